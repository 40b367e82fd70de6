#include "textflag.h"

// The constants of scrambleHash are in Z2 and Z3; shifted is overwritten.
#define HASH(x, shifted) \
	VPMULLQ Z2, x, x; \
	VPSRLQ  $32, x, shifted; \
	VPXORQ  shifted, x, x; \
	VPMULLQ Z3, x, x

// left += the hash of right ^ key, times a, the high half; less a if it is a or
// more: then the difference is the smaller number, else it is below 0, a great
// one. a is below 2^32, so that two products of 32 by 32 bits give the high half.
#define ADD_BELOW(left, right, key) \
	VPXORQ   key, right, Z10; \
	HASH(Z10, Z11); \
	VPSRLQ   $32, Z10, Z11; \
	VPMULUDQ Z4, Z10, Z10; \
	VPMULUDQ Z4, Z11, Z11; \
	VPSRLQ   $32, Z10, Z10; \
	VPADDQ   Z10, Z11, Z11; \
	VPSRLQ   $32, Z11, Z11; \
	VPADDQ   Z11, left, left; \
	VPSUBQ   Z4, left, Z10; \
	VPMINUQ  Z10, left, left

// right ^= the high bits of the hash of left ^ key.
#define XOR_HIGH(right, left, key) \
	VPXORQ key, left, Z10; \
	HASH(Z10, Z11); \
	VPSRLQ X7, Z10, Z10; \
	VPXORQ Z10, right, right

// func mapOnce512(images, numbers *uint64, n int, s *Scramble)
// The fields of Scramble are n, a, h and the four keys.
TEXT ·mapOnce512(SB), NOSPLIT, $0-32
	MOVQ         images+0(FP), DI
	MOVQ         numbers+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         s+24(FP), DX
	MOVQ         $0xBF58476D1CE4E5B9, AX
	VPBROADCASTQ AX, Z2
	MOVQ         $0x94D049BB133111EB, AX
	VPBROADCASTQ AX, Z3
	VPBROADCASTQ 8(DX), Z4
	MOVQ         16(DX), BX
	MOVQ         BX, X6
	MOVQ         $64, AX
	SUBQ         BX, AX
	MOVQ         AX, X7
	VPTERNLOGQ   $0xFF, Z5, Z5, Z5
	VPSRLQ       X7, Z5, Z5
	VPBROADCASTQ 24(DX), Z12
	VPBROADCASTQ 32(DX), Z13
	VPBROADCASTQ 40(DX), Z14
	VPBROADCASTQ 48(DX), Z15

loop:
	VMOVDQU64 (SI), Z0
	VPSRLQ    X6, Z0, Z1
	VPANDQ    Z5, Z0, Z0
	ADD_BELOW(Z1, Z0, Z12)
	XOR_HIGH(Z0, Z1, Z13)
	ADD_BELOW(Z1, Z0, Z14)
	XOR_HIGH(Z0, Z1, Z15)
	VPSLLQ    X6, Z1, Z1
	VPORQ     Z1, Z0, Z0
	VMOVDQU64 Z0, (DI)
	ADDQ      $64, SI
	ADDQ      $64, DI
	SUBQ      $8, CX
	JNZ       loop
	VZEROUPPER
	RET
