import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the check holds. @throws Error with `otherwise` after `timeoutMs`. */
export async function waitUntil(
  check: () => boolean | Promise<boolean>,
  otherwise: string,
  timeoutMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await check())) {
    if (Date.now() > deadline) throw new Error(otherwise);
    await sleep(50);
  }
}
