import type { JsonObject } from '@millrace/contracts';

/**
 * The answer of a project without feature flags, in the shape of the version that was asked for
 * (docs/wire-rules.md#config-and-flags).
 *
 * @param version query parameter `v`; `/flags` without one is of the third shape.
 */
export function noFlags(path: 'flags' | 'decide', version: string | null, requestId: string): JsonObject {
  if ((path === 'flags' && version === '2') || version === '4') {
    return { flags: {}, errorsWhileComputingFlags: false, requestId };
  }
  if (path === 'flags' || version === '3') {
    return { featureFlags: {}, featureFlagPayloads: {}, errorsWhileComputingFlags: false };
  }
  return version === '2' ? { featureFlags: {} } : { featureFlags: [] };
}
