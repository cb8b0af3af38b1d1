const answerWithinMs = 10_000;

/** @returns whether the answer was 200; false when none came */
export async function sendEvents(url: string, body: string): Promise<boolean> {
  try {
    const response = await fetch(url, {
      ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body },
      signal: AbortSignal.timeout(answerWithinMs),
    });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
