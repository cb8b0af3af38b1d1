/** Waits until `isTrue` says so. @throws Error with `what` and the last thing seen, after `timeoutMs`. */
export async function eventually(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  {
    timeoutMs = 20_000,
    describe = async () => '',
  }: { timeoutMs?: number; describe?: () => Promise<unknown> | unknown } = {},
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what} ${String(await describe())}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
