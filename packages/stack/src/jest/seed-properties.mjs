/** A property test that fails prints its seed. Set MILLRACE_SEED to it to reproduce the failure. */
if (process.env.MILLRACE_SEED) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(process.env.MILLRACE_SEED) });
}
