import type { Core } from '../client/core.ts';
import type { Properties } from '../client/values.ts';
import type { FlagInput } from './flag-input.ts';
import type { FlagRequest } from './flag-request.ts';
import type { FlagState } from './flag-state.ts';
import { refreshWhileVisible } from './refresh-flags.ts';
import type { CallReport } from './report-flag-call.ts';

interface FlagParts {
  state: FlagState;
  input: FlagInput;
  request: FlagRequest;
  calls: CallReport;
  read(key: string): unknown;
}

/** What makes a client ask for flags anew. */
export function followSignals(core: Core, { state, input, request, calls, read }: FlagParts): void {
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
  signals.on('flagInput', request.reload);
  signals.on('captured', ({ $set, $unset, properties }) => {
    const set = $set || properties.$set ? { ...(properties.$set as Properties), ...$set } : undefined;
    const isSet = set && input.setPerson(set);
    const unset = $unset ?? (properties.$unset as string[] | undefined);
    if (unset) input.unsetPerson(unset);
    if (isSet || unset) request.reload();
  });
  signals.on('reset', () => {
    calls.forget();
    request.tellFormerId(undefined);
    state.begin();
    request.reload();
  });
  signals.on('consent', () => {
    for (const key of calls.takeHeld()) read(key);
  });
  signals.on('shutdown', () => {
    request.stop();
    stopRefreshing();
  });
}
