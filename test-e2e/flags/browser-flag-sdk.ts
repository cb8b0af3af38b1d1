import { findChromium, patienceMs } from '@millrace/testing';
import { readInstalledVersion } from '../sdks/installed-version.ts';
import { openSdkPage } from '../sdks/sdk-page.ts';
import type { FlagCase } from './flag-cases.ts';
import type { FlagSdk, SdkResult } from './flag-sdk.ts';

const packageName = 'posthog-js';

/** Do not send events, because they would create persons for the test cases' users. */
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
 * A script that runs in the page. A browser SDK instance has one user at a time, so a few instances evaluate one case
 * after another.
 */
const evaluateAll = `async (cases) => {
  const loaded = (posthog) => new Promise((resolve) => {
    let isRequested = false;
    const stop = posthog.onFeatureFlags(() => { if (isRequested) { stop(); resolve(); } });
    isRequested = true;
    posthog.reloadFeatureFlags();
  });
  const evaluate = async (posthog, one) => {
    posthog.resetPersonPropertiesForFlags();
    posthog.resetGroupPropertiesForFlags();
    posthog.register({ distinct_id: one.distinctId, $device_id: one.deviceId, $groups: one.groups });
    posthog.setPersonPropertiesForFlags(one.personProperties, false);
    posthog.setGroupPropertiesForFlags(one.groupProperties, false);
    await loaded(posthog);
    return { value: posthog.getFeatureFlag(one.flag, { send_event: false }), payload: posthog.getFeatureFlagPayload(one.flag) };
  };
  const results = [];
  const waiting = cases.values();
  const { token, ...config } = window.posthog.config;
  await Promise.all(Array.from({ length: 4 }, async (_, n) => {
    const posthog = await new Promise((loaded) => {
      window.posthog.init(token, { ...config, loaded }, 'instance' + n);
    });
    for (const one of waiting) results.push([one.number, await evaluate(posthog, one)]);
  }));
  return results;
}`;

export function createBrowserFlagSdk(): FlagSdk {
  return {
    name: `${packageName} ${readInstalledVersion(packageName)}`,
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
