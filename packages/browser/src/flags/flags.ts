import type { FlagMembers } from '../client/client.ts';
import type { Core } from '../client/core.ts';
import { createFlagInput } from './flag-input.ts';
import { createFlagListeners } from './flag-listeners.ts';
import { createFlagRequest } from './flag-request.ts';
import { documentOf } from './flag-snapshot.ts';
import { createFlagState } from './flag-state.ts';
import { followSignals } from './follow-signals.ts';
import { createOverrides } from './override-flags.ts';
import { createReadMembers } from './read-flags.ts';
import { createCallReport } from './report-flag-call.ts';

/** Feature flags: known at once where they can be, asked for when the visitor or what is known of them changes. */
export function createFlags(
  core: Core,
): Omit<FlagMembers, 'getEarlyAccessFeatures' | 'updateEarlyAccessFeatureEnrollment'> {
  const state = createFlagState(core);
  const overrides = createOverrides(core);
  const current = () => overrides.apply(state.known);
  const values = () => current().$enabled_feature_flags ?? {};
  const listeners = createFlagListeners(core, values);
  const input = createFlagInput(core);
  const request = createFlagRequest(core, input, (answer) => {
    if (state.receive(answer)) listeners.tell(answer.status !== 200);
    else core.log.warn('The limit of flag requests is reached: flags stay as they were');
  });
  const calls = createCallReport(core);
  const reading = createReadMembers(core, { state, current, calls });

  state.begin();
  core.addProperties(state.eventProperties);
  followSignals(core, { state, input, request, calls, read: reading.getFeatureFlagResult });

  const reloadUnless = (reload: boolean | undefined) => {
    if (reload !== false) request.reload();
  };
  const override = (...change: Parameters<typeof overrides.change>) => {
    overrides.change(...change);
    listeners.tell();
  };
  return {
    ...reading,
    onFeatureFlags(listener) {
      if (state.isLoaded) listeners.call(listener);
      return listeners.add(listener);
    },
    reloadFeatureFlags: request.reload,
    updateFlags(flags, payloads, { merge } = {}) {
      state.learn(documentOf(flags, payloads, merge));
      listeners.tell();
    },
    setPersonPropertiesForFlags(properties, reload) {
      input.setPerson(properties);
      reloadUnless(reload);
    },
    resetPersonPropertiesForFlags(reload?: boolean) {
      input.resetPerson();
      reloadUnless(reload);
    },
    setGroupPropertiesForFlags(properties, reload) {
      input.setGroups(properties);
      reloadUnless(reload);
    },
    resetGroupPropertiesForFlags: input.resetGroups,
    featureFlags: {
      get hasLoadedFlags() {
        return state.isLoaded;
      },
      getFlags: () => Object.keys(values()),
      getFlagVariants: values,
      override: (flags, suppressWarning) => override({ flags, suppressWarning }),
      overrideFeatureFlags: override,
    },
  };
}
