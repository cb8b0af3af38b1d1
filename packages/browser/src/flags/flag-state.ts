// The feature flags that are known on this page, and their stored copy from the last visit.

import type { Core, ServerResponse } from '../client/core.ts';
import type { Bootstrap } from '../client/options.ts';
import type { Properties } from '../client/values.ts';
import { createDocument, type FlagSnapshot, type FlagsDocument, updateSnapshot } from './flag-snapshot.ts';

/** The names of the stored properties. */
const names = Object.keys(updateSnapshot({ flags: {} }, {}));

/** Holds the known flags of the visitor on this page. */
export function createFlagState({ store, options }: Core) {
  let bootstrap: Bootstrap | undefined;
  const state = {
    known: {} as FlagSnapshot,
    /** True once flags are known from `bootstrap` or the service, or a request has failed. */
    isLoaded: false,
    isFetched: false,
    errors: () => (store.get('$feature_flag_errors') ?? []) as string[],

    /** Loads the values that are used until flags are fetched: those of the last visit or those in `bootstrap`. */
    begin(): void {
      state.known = Object.fromEntries(names.map((name) => [name, store.get(name)]));
      state.isLoaded = state.isFetched = false;
      if (bootstrap === options.bootstrap) return;
      bootstrap = options.bootstrap;
      const { featureFlags, featureFlagPayloads } = bootstrap;
      const isNew = !state.known.$enabled_feature_flags;
      // Servers that had no flags may pass null.
      if (featureFlags && Object.keys(featureFlags).length)
        state.learn(createDocument(featureFlags, featureFlagPayloads), isNew);
    },

    learn(document: FlagsDocument, isKept = true): void {
      state.isLoaded = true;
      state.known = updateSnapshot(document, state.known);
      if (isKept) store.set({ ...state.known } as Properties);
    },

    /**
     * Replaces the known flags after a response.
     * @returns whether to notify listeners, which is false if the environment's quota for flag requests is used up
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

    /** Returns the properties that are added to every event. */
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
