/**
 * Encrypted payloads of feature flags lie in the flag's filters as the text that a secret box sealed (`v1:…`, which no JSON
 * text begins with), sealed for this context as `{payload: <JSON text>}`.
 *
 * @param environmentId of the flag.
 */
export function flagPayloadContext(environmentId: number): string {
  return `feature flags of ${environmentId}`;
}

/** What is shown instead of an encrypted payload; sent back, it leaves the payload as it is. */
export const redactedPayload = '"********* (encrypted)"';

/** Whether a stored text is what a secret box sealed. */
export function isSealedText(text: string): boolean {
  return text.startsWith('v1:');
}
