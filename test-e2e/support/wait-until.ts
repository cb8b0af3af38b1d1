/**
 * Asks again and again until the answer is not null or undefined.
 * @param what names the awaited thing in the error.
 * @throws Error after `timeoutMs`, with what `describe` says about the present state.
 */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T | null | undefined>,
  { timeoutMs = 20_000, everyMs = 100, describe = async () => '' } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain: ${what}. ${await describe()}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
