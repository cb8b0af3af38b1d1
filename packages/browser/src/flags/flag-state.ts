// Manages the known feature flags on this page, and their copy in storage.

import type { Core, ServerResponse } from '../client/core.ts';
import type { Bootstrap } from '../client/options.ts';
import type { Properties } from '../client/values.ts';
import { createFlagsDocument, type FlagSnapshot, type FlagsDocument, updateFlagSnapshot } from './flag-snapshot.ts';

/** Names of the stored flag properties. */
const names = Object.keys(updateFlagSnapshot({ flags: {} }, {}));

export function createFlagState({ store, options }: Core) {
  let bootstrap: Bootstrap | undefined;
  const state = {
    known: {} as FlagSnapshot,
    /** True after flags were received from `bootstrap` or the service, or after a request failed. */
    isLoaded: false,
    isFetched: false,
    errors: () => (store.get('$feature_flag_errors') ?? []) as string[],

    /** Loads the flags from the previous visit or from `bootstrap`, which are used until the service responds. */
    begin(): void {
      state.known = Object.fromEntries(names.map((name) => [name, store.get(name)]));
      state.isLoaded = state.isFetched = false;
      if (bootstrap === options.bootstrap) return;
      bootstrap = options.bootstrap;
      const { featureFlags, featureFlagPayloads } = bootstrap;
      const isNew = !state.known.$enabled_feature_flags;
      // A server that could not load flags may pass null in `bootstrap`.
      if (featureFlags && Object.keys(featureFlags).length)
        state.learn(createFlagsDocument(featureFlags, featureFlagPayloads), isNew);
    },

    learn(document: FlagsDocument, isKept = true): void {
      state.isLoaded = true;
      state.known = updateFlagSnapshot(document, state.known);
      if (isKept) store.set({ ...state.known } as Properties);
    },

    /**
     * Replaces the known flags after a response.
     * @returns whether to notify listeners; false if the environment has used up its flag request quota
     */
    receive({ status, json, isTimeout }: ServerResponse): boolean {
      const isFetched = status === 200;
      const document = ((isFetched && json) || {}) as FlagsDocument;
      const isLimited = String(document.quotaLimited).includes('feature_flags');
      const errors = [
        !isFetched && (isTimeout ? 'timeout' : status ? `api_error_${status}` : 'connection_error'),
        document.errorsWhileComputingFlags && 'errors_while_computing_flags',
        isLimited && 'quota_limited',
      ];
      store.set({ $feature_flag_errors: errors.filter((error) => error) as string[] });
      if (isLimited) return false;
      state.isFetched ||= isFetched;
      state.learn(document);
      return true;
    },

    eventProperties(): Properties {
      const { $enabled_feature_flags: values = {}, ...known } = state.known;
      const ofFlags = Object.entries(values).map(([key, value]) => [`$feature/${key}`, value]);
      return {
        $active_feature_flags: known.$active_feature_flags,
        $feature_flag_payloads: known.$feature_flag_payloads,
        $feature_flag_request_id: known.$feature_flag_request_id,
        ...Object.fromEntries(ofFlags),
      };
    },
  };
  return state;
}

export type FlagState = ReturnType<typeof createFlagState>;
