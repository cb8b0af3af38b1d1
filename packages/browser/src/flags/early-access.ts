import type { EarlyAccessFeature, FlagMembers } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { JsonValue } from '../client/values.ts';

const listKey = '$early_access_features';

/** Creates the methods that list early access features and enroll visitors in them. */
export function createEarlyAccess({
  token,
  client,
  store,
  sender,
  log,
  url,
  capture,
}: Core): Pick<FlagMembers, 'getEarlyAccessFeatures' | 'updateEarlyAccessFeatureEnrollment'> {
  const known = () => store.get(listKey) as unknown as EarlyAccessFeature[] | undefined;

  return {
    async getEarlyAccessFeatures(listener, forceReload, stages = []) {
      const notify = (...args: Parameters<typeof listener>) => {
        try {
          listener(...args);
        } catch (error) {
          log.error('An early access callback failed', error);
        }
      };
      const features = known();
      if (features && !forceReload) return notify(features, { isLoaded: true });
      const query = [['token', token], ...stages.map((stage) => ['stage', stage])] as [string, string][];
      const path = `/api/early_access_features/?${new URLSearchParams(query)}`;
      const { status, json } = await sender.request(url(path), { method: 'GET' });
      const { earlyAccessFeatures: list } = (json ?? {}) as { earlyAccessFeatures?: EarlyAccessFeature[] };
      if (status !== 200 || !list)
        return notify([], { isLoaded: false, error: `Could not load early access features (HTTP ${status})` });
      store.set({ [listKey]: list as unknown as JsonValue });
      notify(list, { isLoaded: true });
    },

    updateEarlyAccessFeatureEnrollment(key, isEnrolled, stage) {
      const property = { [`$feature_enrollment/${key}`]: isEnrolled };
      const name = known()?.find(({ flagKey }) => flagKey === key)?.name;
      client.setPersonPropertiesForFlags(property, false);
      client.updateFlags({ [key]: isEnrolled }, undefined, { merge: true });
      capture('$feature_enrollment_update', {
        $feature_flag: key,
        $feature_enrollment: isEnrolled,
        $set: property,
        ...(name && { $early_access_feature_name: name }),
        ...(stage && { $feature_enrollment_stage: stage }),
      });
      client.reloadFeatureFlags();
    },
  };
}
