#include "textflag.h"

// Where in a number the bits of each byte of a word begin: seven bits a byte,
// behind a byte for the kind, or from the first byte on.
DATA heads<>+0(SB)/8, $0x2A231C150E070000
GLOBL heads<>(SB), RODATA|NOPTR, $8
DATA parts<>+0(SB)/8, $0x0000231C150E0700
GLOBL parts<>(SB), RODATA|NOPTR, $8

// The words of the first four ops, two each, and those of the other four.
DATA first<>+0(SB)/8, $0
DATA first<>+8(SB)/8, $8
DATA first<>+16(SB)/8, $1
DATA first<>+24(SB)/8, $9
DATA first<>+32(SB)/8, $2
DATA first<>+40(SB)/8, $10
DATA first<>+48(SB)/8, $3
DATA first<>+56(SB)/8, $11
GLOBL first<>(SB), RODATA|NOPTR, $64
DATA second<>+0(SB)/8, $4
DATA second<>+8(SB)/8, $12
DATA second<>+16(SB)/8, $5
DATA second<>+24(SB)/8, $13
DATA second<>+32(SB)/8, $6
DATA second<>+40(SB)/8, $14
DATA second<>+48(SB)/8, $7
DATA second<>+56(SB)/8, $15
GLOBL second<>(SB), RODATA|NOPTR, $64

#define BROADCAST(value, register) \
	MOVQ         value, AX; \
	VPBROADCASTQ AX, register

// func put512(out *byte, kinds *Kind, keys, due *uint64, read, written *FieldSet, n int, prevKey, prevDue, heads uint64, sets *[8]uint64) (done, size int)
//
// An op is two words: kind and gap, key and sets. Of each word there is a second
// one that says which bytes are used; the bytes that aren't are closed up.
TEXT ·put512(SB), NOSPLIT, $0-104
	MOVQ out+0(FP), DI
	MOVQ kinds+8(FP), SI
	MOVQ keys+16(FP), R8
	MOVQ due+24(FP), R9
	MOVQ read+32(FP), R10
	MOVQ written+40(FP), R11
	MOVQ n+48(FP), CX
	MOVQ DI, R12             // where the bytes begin
	XORQ DX, DX              // ops done

	// The numbers before the first ones are in the last lanes.
	VPBROADCASTQ prevKey+56(FP), Z0
	VPBROADCASTQ prevDue+64(FP), Z1
	VPBROADCASTQ heads+72(FP), Z31
	VPBROADCASTQ heads<>(SB), Z30
	VPBROADCASTQ parts<>(SB), Z29
	VMOVDQU64    first<>(SB), Z28
	VMOVDQU64    second<>(SB), Z27
	MOVQ         sets+80(FP), AX
	VMOVDQU64    (AX), Z26
	BROADCAST($0x7F7F7F7F7F7F7F00, Z25)
	BROADCAST($0x00007F7F7F7F7F7F, Z24)
	BROADCAST($0x8080808080808000, Z23)
	BROADCAST($0x0000008080808080, Z22)
	BROADCAST($0x38, Z21)
	BROADCAST($0x100, Z20)
	BROADCAST($1, Z19)
	VPTERNLOGQ   $0xFF, Z18, Z18, Z18
	BROADCAST($4, Z17)       // Scan

loop:
	VPMOVZXBQ (SI)(DX*1), Z2
	VMOVDQU64 (R8)(DX*8), Z3
	VMOVDQU64 (R9)(DX*8), Z4
	VPMOVZXDQ (R10)(DX*4), Z5
	VPMOVZXDQ (R11)(DX*4), Z6

	// Gaps, and differences of keys as zigzag.
	VALIGNQ $7, Z0, Z3, Z7
	VPSUBQ  Z7, Z3, Z7
	VALIGNQ $7, Z1, Z4, Z8
	VPSUBQ  Z8, Z4, Z8
	VPSRAQ  $63, Z7, Z9
	VPADDQ  Z7, Z7, Z7
	VPXORQ  Z9, Z7, Z7

	// What is too long for here.
	VPSRLQ     $49, Z8, Z9
	VPSRLQ     $42, Z7, Z10
	VPORQ      Z5, Z6, Z11
	VPSRLQ     $7, Z11, Z11
	VPSRLQ     $3, Z2, Z12
	VPTERNLOGQ $0xFE, Z10, Z11, Z9
	VPORQ      Z12, Z9, Z9
	VPTESTMQ   Z9, Z9, K1
	VPCMPEQQ   Z17, Z2, K2
	KORTESTW   K1, K2
	JNZ        done
	VMOVDQA64  Z3, Z0
	VMOVDQA64  Z4, Z1

	// Kind and gap. A byte is used if its bits or later ones are not 0, and then
	// the one before says that it isn't the last.
	VPMULTISHIFTQB Z8, Z30, Z8
	VPANDQ         Z25, Z8, Z8
	VPORQ          Z20, Z8, Z9
	VPLZCNTQ       Z9, Z9
	VPANDQ         Z21, Z9, Z9
	VPSRLVQ        Z9, Z18, Z9
	VPSRLQ         $8, Z9, Z10
	VPTERNLOGQ     $0xF8, Z23, Z10, Z8 // Z8 | Z10 & Z23
	VPORQ          Z2, Z8, Z8
	VPANDQ         Z31, Z9, Z9

	// Key and sets.
	VPMULTISHIFTQB Z7, Z29, Z7
	VPANDQ         Z24, Z7, Z7
	VPORQ          Z19, Z7, Z10
	VPLZCNTQ       Z10, Z10
	VPANDQ         Z21, Z10, Z10
	VPSRLVQ        Z10, Z18, Z10
	VPSRLQ         $8, Z10, Z11
	VPTERNLOGQ     $0xF8, Z22, Z11, Z7
	VPSLLQ         $48, Z5, Z5
	VPSLLQ         $56, Z6, Z6
	VPTERNLOGQ     $0xFE, Z5, Z6, Z7
	VPERMQ         Z26, Z2, Z11
	VPORQ          Z11, Z10, Z10

	// The words of each op next to each other.
	VMOVDQA64 Z8, Z11
	VPERMT2Q  Z7, Z28, Z11
	VPERMT2Q  Z7, Z27, Z8
	VMOVDQA64 Z9, Z12
	VPERMT2Q  Z10, Z28, Z12
	VPERMT2Q  Z10, Z27, Z9

	VPMOVB2M      Z12, K1
	VPMOVB2M      Z9, K2
	VPCOMPRESSB.Z Z11, K1, Z11
	VPCOMPRESSB.Z Z8, K2, Z8
	KMOVQ         K1, AX
	KMOVQ         K2, BX
	POPCNTQ       AX, AX
	POPCNTQ       BX, BX
	VMOVDQU64     Z11, (DI)
	ADDQ          AX, DI
	VMOVDQU64     Z8, (DI)
	ADDQ          BX, DI
	ADDQ          $8, DX
	CMPQ          DX, CX
	JLT           loop

done:
	VZEROUPPER
	MOVQ DX, done+88(FP)
	SUBQ R12, DI
	MOVQ DI, size+96(FP)
	RET
