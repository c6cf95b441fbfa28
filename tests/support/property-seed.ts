import fc from "fast-check";

/** Property tests try the same inputs in every run, so that a change fails for what it does; FC_SEED=N tries others. */
fc.configureGlobal({ seed: Number(process.env["FC_SEED"] ?? 20_261_130) });
