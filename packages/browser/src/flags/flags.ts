import type { FlagMembers, FlagsListener } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import type { FlagValue } from '../client/values.ts';
import { addDocumentListener, longestTimerMs, page, readFromDocument } from '../page/globals.ts';
import { createFlagInputMembers, createFlagRequest, type FlagRequest } from './flag-request.ts';
import { createFlagsDocument, selectEnabledFlags } from './flag-snapshot.ts';
import { createFlagState, type FlagState } from './flag-state.ts';
import type { Overrides } from './override-flags.ts';
import { type CallReport, createFlagCallReporter, createFlagReaders } from './read-flags.ts';

type OfFlags = Omit<FlagMembers, 'getEarlyAccessFeatures' | 'updateEarlyAccessFeatureEnrollment'>;

/**
 * Implements feature flags. Flags from the previous visit or from `bootstrap` are available immediately. The client
 * requests flags again when the visitor or the known properties change.
 * @param overrides the flag overrides; undefined in builds that cannot override flags
 */
export function createFlags(core: Core, overrides?: Overrides): OfFlags {
  const state = createFlagState(core);
  const current = () => overrides?.apply(state.known) ?? state.known;
  const values = () => current().$enabled_feature_flags ?? {};
  const listeners = createFlagListeners(core, values);
  const request = createFlagRequest(core, (response) => {
    if (state.receive(response)) listeners.tell(response.status !== 200);
    else core.log.warn('Flag request quota exceeded, flags are not updated');
  });
  const absent = () => core.log.debug('posthog.override is not included in this build');
  const calls = createFlagCallReporter(core);
  const reading = createFlagReaders(core, { state, current, calls });

  state.begin();
  core.addProperties(state.eventProperties);
  followSignals(core, { state, request, calls, read: reading.getFeatureFlagResult });

  return {
    ...reading,
    ...createFlagInputMembers(core, request.reload),
    onFeatureFlags(listener) {
      if (state.isLoaded) listeners.call(listener);
      return listeners.add(listener);
    },
    reloadFeatureFlags: request.reload,
    updateFlags(flags, payloads, { merge } = {}) {
      state.learn(createFlagsDocument(flags, payloads, merge));
      listeners.tell();
    },
    featureFlags: {
      get hasLoadedFlags() {
        return state.isLoaded;
      },
      getFlags: () => Object.keys(values()),
      getFlagVariants: values,
      ...(overrides?.members(listeners.tell) ?? { override: absent, overrideFeatureFlags: absent }),
    },
  };
}

/** Manages listeners for flag changes. If a listener throws, the other listeners still run. */
function createFlagListeners({ log }: Core, values: () => Record<string, FlagValue> | undefined) {
  const listeners = new Set<FlagsListener>();

  function call(listener: FlagsListener, ...context: [] | [{ errorsLoading: boolean }]): void {
    const active = selectEnabledFlags(values());
    try {
      listener(Object.keys(active), active, ...context);
    } catch (error) {
      log.error('A feature flag callback failed', error);
    }
  }

  return {
    add(listener: FlagsListener): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    call,
    tell(errorsLoading = false): void {
      for (const listener of [...listeners]) call(listener, { errorsLoading });
    },
  };
}

interface FlagParts {
  state: FlagState;
  request: FlagRequest;
  calls: CallReport;
  read(key: string): unknown;
}

function followSignals(core: Core, { state, request, calls, read }: FlagParts): void {
  const { options, signals } = core;
  const stopRefreshing = refreshWhileVisible(core, request.reload);

  signals.on('remoteConfig', (config) => {
    if (config?.hasFeatureFlags !== false && !options.advanced_disable_feature_flags_on_first_load) request.begin();
  });
  signals.on('identity', ({ anonymousDistinctId }) => {
    calls.forget();
    if (anonymousDistinctId) request.tellFormerId(anonymousDistinctId);
    request.reload();
  });
  signals.on('flagInput', request.reloadIfChanged);
  signals.on('otherTab', request.reload);
  signals.on('reset', () => {
    calls.forget();
    request.tellFormerId(undefined);
    state.begin();
    request.reload();
  });
  signals.on('consent', () => {
    for (const key of calls.takeHeld()) read(key);
  });
  signals.on('shutdown', stopRefreshing);
}

/**
 * Calls `refresh` periodically while the page is open. If the page is hidden, postpones the call until the page is
 * visible. Returns a function that stops the calls.
 */
function refreshWhileVisible({ options }: Core, refresh: () => void): () => void {
  if (!page || !(options.remote_config_refresh_interval_ms > 0)) return () => {};
  let isDue = false;

  function refreshIfDue(): void {
    if (!isDue || readFromDocument('visibilityState') === 'hidden') return;
    isDue = false;
    refresh();
  }
  const timer = setInterval(
    () => {
      isDue = true;
      refreshIfDue();
    },
    Math.min(options.remote_config_refresh_interval_ms, longestTimerMs),
  );
  const stop = new AbortController();
  addDocumentListener('visibilitychange', refreshIfDue, stop);
  return () => {
    clearInterval(timer);
    stop.abort();
  };
}
