import type { Core } from '../client/core.ts';
import type { FlagRequest } from './flag-request.ts';
import type { FlagState } from './flag-state.ts';
import { refreshWhileVisible } from './refresh-flags.ts';
import type { CallReport } from './report-flag-call.ts';

interface FlagParts {
  state: FlagState;
  request: FlagRequest;
  calls: CallReport;
  read(key: string): unknown;
}

/** What makes a client ask for flags anew. */
export function followSignals(core: Core, { state, request, calls, read }: FlagParts): void {
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
