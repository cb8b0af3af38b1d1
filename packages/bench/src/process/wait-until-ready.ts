/** Asks a service until it says that it is ready. @throws Error when it has not within 30 s. */
export async function waitUntilReady(port: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/_readiness`).catch(() => null);
    if (response?.ok) return;
    if (performance.now() > deadline) {
      throw new Error(`Not ready after 30 s: ${(await response?.text()) ?? 'no answer'}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
