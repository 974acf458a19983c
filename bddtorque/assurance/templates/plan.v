(* @title@ *)
From Coq Require Import Reals Lra Psatz.
@required@From Flocq Require Import Core.
Require Import Gappa.Gappa_library.

(* A number that is not outside of an interval is inside: order on the reals is decidable. *)
Lemma inside : forall x i, (~ BND x i -> False) -> BND x i.
Proof.
intros x i outside. unfold BND in *.
destruct (Rle_dec (lower i) x) as [low|low]; [|elim outside; intros [H _]; exact (low H)].
destruct (Rle_dec x (upper i)) as [high|high]; [split; assumption|elim outside; intros [_ H]; exact (high H)].
Qed.

(* What is written `floor`, `half_even` and `rnd` in the plan. *)
Definition floor (x : R) : R := rounding_fixed rndDN 0 x.
Lemma floor_is_floor : forall x, floor x = IZR (Zfloor x).
Proof. exact (round_FIX_IZR Zfloor). Qed.
Definition half_even (x : R) : R := rounding_fixed rndNE 0 x.
Lemma half_even_is_nearest : forall x, half_even x = IZR (ZnearestE x).
Proof. exact (round_FIX_IZR ZnearestE). Qed.
Definition rnd (x : R) : R := rounding_float rndNE @digits@ (@lowest@) x.
Lemma rnd_is_nearest_float : forall x, rnd x = round radix2 (FLT_exp (@lowest@) @digits@) ZnearestE x.
Proof. reflexivity. Qed.

(* Of a cosine and a sine. *)
Lemma unit_range : forall x y, (x * x + y * y = 1)%R -> BND x (makepairF (Float2 (-1) 0) (Float2 1 0)).
Proof. intros x y circle. unfold BND, float2R, F2R. simpl. nra. Qed.
Lemma unit_circle : forall x, (x = 1)%R -> BND x (makepairF (Float2 1 0) (Float2 1 0)).
Proof. intros x one. unfold BND, float2R, F2R. simpl. lra. Qed.
Ltac circle angle := rewrite <- (sin2_cos2 angle); unfold Rsqr; ring.

(* The rewritings that Gappa was given: identities of polynomials, and |x| = sqrt (x * x). *)
Ltac powers :=
  repeat match goal with
  | |- context [Z.pow_pos ?a ?b] => let v := eval vm_compute in (Z.pow_pos a b) in change (Z.pow_pos a b) with v
  end.
Ltac identity :=
  first [ exact (eq_sym (sqrt_Rsqr_abs _))
        | unfold Float1, float2R, F2R; simpl; powers; field; repeat split; apply IZR_neq; discriminate ].

(* Bounds of two's complement and powers of two as plain inequalities. *)
Ltac plain := unfold BND, float2R, F2R in *; simpl in *; lra.
