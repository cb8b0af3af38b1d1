/** A failed property test prints its seed. Set MILLRACE_SEED to this seed to reproduce the failure. */
if (process.env.MILLRACE_SEED) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(process.env.MILLRACE_SEED) });
}
