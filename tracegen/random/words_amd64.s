#include "textflag.h"

// Of the state in each lane, the finalizer of splitmix64.
#define MIX(state, out, shifted) \
	VPSRLQ  $30, state, shifted; \
	VPXORQ  state, shifted, out; \
	VPMULLQ Z2, out, out; \
	VPSRLQ  $27, out, shifted; \
	VPXORQ  out, shifted, out; \
	VPMULLQ Z3, out, out; \
	VPSRLQ  $31, out, shifted; \
	VPXORQ  out, shifted, out

// func words512(out *uint64, n int, states *[8]uint64, eight uint64)
TEXT ·words512(SB), NOSPLIT, $0-32
	MOVQ         out+0(FP), DI
	MOVQ         n+8(FP), CX
	MOVQ         states+16(FP), SI
	MOVQ         eight+24(FP), AX
	VMOVDQU64    (SI), Z0
	VPBROADCASTQ AX, Z1
	MOVQ         $0xBF58476D1CE4E5B9, AX
	VPBROADCASTQ AX, Z2
	MOVQ         $0x94D049BB133111EB, AX
	VPBROADCASTQ AX, Z3
	VPADDQ       Z1, Z0, Z4
	VPADDQ       Z1, Z1, Z1

loop:
	MIX(Z0, Z5, Z6)
	MIX(Z4, Z7, Z8)
	VMOVDQU64 Z5, (DI)
	VMOVDQU64 Z7, 64(DI)
	VPADDQ    Z1, Z0, Z0
	VPADDQ    Z1, Z4, Z4
	ADDQ      $128, DI
	SUBQ      $16, CX
	JNZ       loop
	VZEROUPPER
	RET
