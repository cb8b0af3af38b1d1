import { findChromium, patienceMs } from '@millrace/testing';
import { installedVersion } from '../sdks/installed-version.ts';
import { openSdkPage } from '../sdks/sdk-page.ts';
import type { FlagCase } from './flag-cases.ts';
import type { FlagSdk, SdkResult } from './flag-sdk.ts';

const packageName = 'posthog-js';

/** Events are not sent, because they would create persons for the users in the cases. */
const options = {
  feature_flag_request_timeout_ms: patienceMs,
  persistence: 'memory',
  autocapture: false,
  capture_pageview: false,
  capture_pageleave: false,
  capture_performance: false,
  capture_dead_clicks: false,
  disable_session_recording: true,
  disable_surveys: true,
};

/**
 * A script that runs in the page. A browser SDK has one user at a time, so a few instances evaluate one case after
 * another.
 */
const evaluateAll = `async (cases) => {
  const loaded = (posthog) => new Promise((resolve) => {
    let isAsked = false;
    const stop = posthog.onFeatureFlags(() => { if (isAsked) { stop(); resolve(); } });
    isAsked = true;
    posthog.reloadFeatureFlags();
  });
  const ask = async (posthog, one) => {
    posthog.resetPersonPropertiesForFlags();
    posthog.resetGroupPropertiesForFlags();
    posthog.register({ distinct_id: one.distinctId, $device_id: one.deviceId, $groups: one.groups });
    posthog.setPersonPropertiesForFlags(one.personProperties, false);
    posthog.setGroupPropertiesForFlags(one.groupProperties, false);
    await loaded(posthog);
    return { value: posthog.getFeatureFlag(one.flag, { send_event: false }), payload: posthog.getFeatureFlagPayload(one.flag) };
  };
  const answers = [];
  const waiting = cases.values();
  const { token, ...config } = window.posthog.config;
  await Promise.all(Array.from({ length: 4 }, async (_, n) => {
    const posthog = await new Promise((loaded) => {
      window.posthog.init(token, { ...config, loaded }, 'asker' + n);
    });
    for (const one of waiting) answers.push([one.number, await ask(posthog, one)]);
  }));
  return answers;
}`;

export function browserFlagSdk(): FlagSdk {
  return {
    name: `${packageName} ${installedVersion(packageName)}`,
    unavailable: findChromium() === null ? 'there is no Chromium' : null,
    async evaluate(target, cases) {
      const { page, close } = await openSdkPage({ packageName, bundle: 'module.js', options }, target);
      try {
        const results = await page.evaluate<[number, SdkResult][]>(
          `(${evaluateAll})(${JSON.stringify(cases.map(toInput))})`,
        );
        return new Map(results);
      } finally {
        await close();
      }
    },
  };
}

function toInput({ number, flag, distinctId, context }: FlagCase) {
  return {
    number,
    flag,
    distinctId,
    deviceId: context.device_id ?? null,
    personProperties: context.person_properties ?? {},
    groups: context.groups ?? {},
    groupProperties: context.group_properties ?? {},
  };
}
