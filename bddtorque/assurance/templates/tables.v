Module Tables.
Import Lia List Bool ZArith.
Import ListNotations.
Module F := Specific_ops.SpecificFloat Specific_stdz.StdZRadix2.
Module I := Float_full.FloatIntervalFull F.
Definition digits := F.PtoP 80.
Definition holds (i : I.type) (x : R) := Interval.contains (I.convert i) (Xreal.Xreal x).

(* Entry e of a table of n entries is at most m / d from s times the cosine of i parts of n of a turn. *)
Definition cosine (n i : Z) :=
  I.cos digits (I.div digits (I.mul digits (I.pi digits) (I.fromZ digits (2 * i))) (I.fromZ digits n)).
Definition positive (i : I.type) := match I.sign_large i with Xreal.Xgt => true | _ => false end.
Definition close (n s m d i e : Z) :=
  let off := I.mul digits (I.fromZ digits d)
    (I.sub digits (I.fromZ digits e) (I.mul digits (cosine n i) (I.fromZ digits s))) in
  positive (I.add digits (I.fromZ digits m) off) && positive (I.sub digits (I.fromZ digits m) off).

Lemma quotient : forall x y, (y <> 0)%R -> Xreal.Xdiv (Xreal.Xreal x) (Xreal.Xreal y) = Xreal.Xreal (x / y).
Proof.
intros x y zero. unfold Xreal.Xdiv, Xreal.Xdiv', Xreal.Xbind2. now rewrite (Xreal.is_zero_false y zero).
Qed.
Lemma holds_cosine : forall n i, n <> 0%Z -> holds (cosine n i) (cos (PI * IZR (2 * i) / IZR n)).
Proof.
intros n i zero. unfold holds, cosine.
apply (I.cos_correct digits _ (Xreal.Xreal (PI * IZR (2 * i) / IZR n))).
assert (inside := I.div_correct digits _ _ (Xreal.Xreal (PI * IZR (2 * i))) (Xreal.Xreal (IZR n))
  (I.mul_correct digits _ _ (Xreal.Xreal PI) _ (I.pi_correct digits) (I.fromZ_correct digits (2 * i)))
  (I.fromZ_correct digits n)).
rewrite (quotient (PI * IZR (2 * i)) (IZR n) (IZR_neq _ _ zero)) in inside. exact inside.
Qed.

Lemma holds_positive : forall i x, holds i x -> positive i = true -> (0 <= x)%R.
Proof.
intros i x inside. unfold positive. generalize (I.sign_large_correct i).
destruct (I.sign_large i); try discriminate. intros sign _. exact (proj2 (sign _ inside)).
Qed.

Lemma close_correct : forall n s m d i e, (n <> 0)%Z -> (0 < d)%Z -> close n s m d i e = true ->
  (- (IZR m / IZR d) <= IZR e - cos (PI * IZR (2 * i) / IZR n) * IZR s <= IZR m / IZR d)%R.
Proof.
intros n s m d i e zero more. unfold close. rewrite andb_true_iff. intros [low high].
assert (off := I.mul_correct digits _ _ _ _ (I.fromZ_correct digits d)
  (I.sub_correct digits _ _ _ _ (I.fromZ_correct digits e)
    (I.mul_correct digits _ _ _ _ (holds_cosine n i zero) (I.fromZ_correct digits s)))).
apply (holds_positive _ _ (I.add_correct digits _ _ _ _ (I.fromZ_correct digits m) off)) in low.
apply (holds_positive _ _ (I.sub_correct digits _ _ _ _ (I.fromZ_correct digits m) off)) in high.
apply IZR_lt in more.
set (x := (IZR e - _)%R) in *.
replace x with (IZR d * x / IZR d)%R by (field; lra).
rewrite <- Ropp_div. split; apply Rmult_le_compat_r; try (apply Rlt_le, Rinv_0_lt_compat; lra); lra.
Qed.

Fixpoint all (test : Z -> Z -> bool) (i : Z) (entries : list Z) : bool :=
  match entries with nil => true | e :: rest => test i e && all test (i + 1) rest end.
Lemma all_correct : forall test entries i k, all test i entries = true -> (k < length entries)%nat ->
  test (i + Z.of_nat k)%Z (nth k entries 0%Z) = true.
Proof.
induction entries as [|e rest IH]; simpl; intros i k passed less; [lia|].
apply andb_true_iff in passed. destruct passed as [first passed].
destruct k; [now rewrite Z.add_0_r | replace (i + Z.of_nat (S k))%Z with (i + 1 + Z.of_nat k)%Z by lia].
apply IH; [assumption | lia].
Qed.

Lemma whole_turns : forall x k, cos (x + 2 * IZR k * PI) = cos x.
Proof.
intros x k. destruct (Z.le_ge_cases 0 k) as [sign|sign].
- rewrite <- (Z2Nat.id k sign), <- INR_IZR_INZ. apply cos_period.
- rewrite <- (cos_period _ (Z.to_nat (- k))), INR_IZR_INZ, Z2Nat.id, opp_IZR by lia. f_equal. ring.
Qed.

Definition entry (entries : list Z) (n i : Z) := IZR (nth (Z.to_nat (i mod n)) entries 0%Z).
Definition test (n s m d low high i e : Z) := (low <=? e)%Z && (e <=? high)%Z && close n s m d i e.
Theorem table : forall entries quarter s m d low high, (0 < d)%Z -> (0 < quarter)%Z ->
  Z.of_nat (length entries) = (4 * quarter)%Z -> all (test (4 * quarter) s m d low high) 0 entries = true -> forall k r,
  (IZR low <= entry entries (4 * quarter) (k + r * quarter) <= IZR high)%R /\
  (IZR (- m) / IZR d <= entry entries (4 * quarter) (k + r * quarter)
    - cos (2 * PI * IZR k / IZR (4 * quarter) + IZR r * (PI / 2)) * IZR s <= IZR m / IZR d)%R.
Proof.
intros entries quarter s m d low high more some size passed k r. unfold entry.
set (n := (4 * quarter)%Z) in *. set (i := (k + r * quarter)%Z).
assert (at_most := Z.mod_pos_bound i n ltac:(lia)).
assert (one := all_correct _ _ 0 (Z.to_nat (i mod n)) passed ltac:(lia)).
apply andb_true_iff in one. destruct one as [range near]. apply andb_true_iff in range. destruct range as [least most].
split; [split; apply IZR_le, Z.leb_le; assumption|].
rewrite Z.add_0_l, Z2Nat.id in near by lia.
apply close_correct in near; [|lia|assumption].
apply IZR_lt in some.
replace (2 * PI * IZR k / IZR n + IZR r * (PI / 2))%R
  with (PI * IZR (2 * (i mod n)) / IZR n + 2 * IZR (i / n) * PI)%R;
  [now rewrite whole_turns, opp_IZR, Ropp_div|].
replace (IZR k) with (IZR (n * (i / n) + i mod n - r * quarter)) by (f_equal; rewrite <- Z.div_mod; lia).
unfold n. rewrite minus_IZR, plus_IZR, !mult_IZR. field. lra.
Qed.

Lemma quarter_0 : forall x, cos (x + 0 * (PI / 2)) = cos x.
Proof. intros. f_equal. ring. Qed.
Lemma quarter_1 : forall x, cos (x + 1 * (PI / 2)) = (- sin x)%R.
Proof. intros. rewrite cos_plus, Rmult_1_l, cos_PI2, sin_PI2. ring. Qed.
Lemma quarter_2 : forall x, cos (x + 2 * (PI / 2)) = (- cos x)%R.
Proof. intros. replace (2 * (PI / 2))%R with PI by field. apply neg_cos. Qed.
Lemma quarter_3 : forall x, cos (x + 3 * (PI / 2)) = sin x.
Proof. intros. rewrite cos_plus, cos_3PI2, sin_3PI2. ring. Qed.
