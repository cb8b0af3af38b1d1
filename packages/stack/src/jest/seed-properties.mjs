/** Properties print their seed when they fail; given as MILLRACE_SEED, they run again what failed. */
if (process.env.MILLRACE_SEED) {
  const { configureGlobal } = await import('fast-check');
  configureGlobal({ seed: Number(process.env.MILLRACE_SEED) });
}
