/**
 * Returns the encryption context for payloads of feature flags. An encrypted payload is stored in the flag's filters as
 * a string (`v1:…`, which is never valid JSON). Its decrypted content is `{payload: <JSON text>}`.
 * @param environmentId the ID of the flag's environment
 */
export function flagPayloadEncryptionContext(environmentId: number): string {
  return `feature flags of ${environmentId}`;
}

/** Takes the place of an encrypted payload in responses. A request that contains it leaves the payload unchanged. */
export const redactedPayload = '"********* (encrypted)"';

export function isSealedPayload(text: string): boolean {
  return text.startsWith('v1:');
}
