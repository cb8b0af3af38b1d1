/**
 * Uses the seed in MILLRACE_SEED for property tests. A property test that fails prints its seed, which reproduces the
 * failure.
 */
if (process.env.MILLRACE_SEED) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(process.env.MILLRACE_SEED) });
}
