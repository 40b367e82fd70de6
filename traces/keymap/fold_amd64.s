#include "textflag.h"

// One octet of FNV-1a for two vectors of states, and the next ones of what is
// hashed. The prime is in Z2, the mask of an octet in Z4.
#define OCTET \
	VPANDQ  Z4, Z5, Z7; \
	VPANDQ  Z4, Z6, Z8; \
	VPXORQ  Z7, Z0, Z0; \
	VPXORQ  Z8, Z1, Z1; \
	VPMULLQ Z2, Z0, Z0; \
	VPMULLQ Z2, Z1, Z1; \
	VPSRLQ  $8, Z5, Z5; \
	VPSRLQ  $8, Z6, Z6

// func hash512(hashes, numbers *uint64, n int)
TEXT ·hash512(SB), NOSPLIT, $0-24
	MOVQ         hashes+0(FP), DI
	MOVQ         numbers+8(FP), SI
	MOVQ         n+16(FP), CX
	MOVQ         $1099511628211, AX
	VPBROADCASTQ AX, Z2
	MOVQ         $0xCBF29CE484222325, AX
	VPBROADCASTQ AX, Z3
	MOVQ         $0xFF, AX
	VPBROADCASTQ AX, Z4

loop:
	VMOVDQU64 (SI), Z5
	VMOVDQU64 64(SI), Z6
	VMOVDQA64 Z3, Z0
	VMOVDQA64 Z3, Z1
	OCTET
	OCTET
	OCTET
	OCTET
	OCTET
	OCTET
	OCTET
	OCTET
	VPABSQ    Z0, Z0
	VPABSQ    Z1, Z1
	VMOVDQU64 Z0, (DI)
	VMOVDQU64 Z1, 64(DI)
	ADDQ      $128, SI
	ADDQ      $128, DI
	SUBQ      $16, CX
	JNZ       loop
	VZEROUPPER
	RET
