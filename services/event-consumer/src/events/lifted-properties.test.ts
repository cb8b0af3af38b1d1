import type { JsonObject } from '@millrace/contracts';
import { flattenOverlay } from '../values/properties.ts';
import { copyToPersonProperties, mergeOperatingSystemNames } from './rows.ts';

/**
 * Every property that is copied to the person, with the name of the property for its initial value
 * (docs/ingestion-rules.md#person-properties).
 */
const lifted: [string, string][] = [
  ['$app_build', '$initial_app_build'],
  ['$app_name', '$initial_app_name'],
  ['$app_namespace', '$initial_app_namespace'],
  ['$app_version', '$initial_app_version'],
  ['$browser', '$initial_browser'],
  ['$browser_version', '$initial_browser_version'],
  ['$device_type', '$initial_device_type'],
  ['$current_url', '$initial_current_url'],
  ['$pathname', '$initial_pathname'],
  ['$os', '$initial_os'],
  ['$os_version', '$initial_os_version'],
  ['$referring_domain', '$initial_referring_domain'],
  ['$referrer', '$initial_referrer'],
  ['$screen_height', '$initial_screen_height'],
  ['$screen_width', '$initial_screen_width'],
  ['$viewport_height', '$initial_viewport_height'],
  ['$viewport_width', '$initial_viewport_width'],
  ['$raw_user_agent', '$initial_raw_user_agent'],
  ['utm_source', '$initial_utm_source'],
  ['utm_medium', '$initial_utm_medium'],
  ['utm_campaign', '$initial_utm_campaign'],
  ['utm_content', '$initial_utm_content'],
  ['utm_name', '$initial_utm_name'],
  ['utm_term', '$initial_utm_term'],
  ['gclid', '$initial_gclid'],
  ['gad_source', '$initial_gad_source'],
  ['gclsrc', '$initial_gclsrc'],
  ['dclid', '$initial_dclid'],
  ['gbraid', '$initial_gbraid'],
  ['wbraid', '$initial_wbraid'],
  ['fbclid', '$initial_fbclid'],
  ['msclkid', '$initial_msclkid'],
  ['twclid', '$initial_twclid'],
  ['li_fat_id', '$initial_li_fat_id'],
  ['mc_cid', '$initial_mc_cid'],
  ['igshid', '$initial_igshid'],
  ['ttclid', '$initial_ttclid'],
  ['rdt_cid', '$initial_rdt_cid'],
  ['irclid', '$initial_irclid'],
  ['_kx', '$initial__kx'],
  ['epik', '$initial_epik'],
  ['qclid', '$initial_qclid'],
  ['sccid', '$initial_sccid'],
];

function lift(sent: JsonObject): JsonObject {
  const properties = { under: Object.freeze(sent), over: {} };
  mergeOperatingSystemNames(properties);
  copyToPersonProperties(properties);
  return flattenOverlay(properties);
}

test.each(lifted)('copies %s to the person under its own name, and to %s for the initial value', (key, initialName) => {
  expect(lift({ [key]: 1 })).toEqual({ [key]: 1, $set: { [key]: 1 }, $set_once: { [initialName]: 1 } });
});

test('returns the original object if no property is copied to the person', () => {
  const properties = { a: 1, $set: 'odd', $ip: '203.0.113.7', $lib: 'web', toString: 1 };
  expect(lift(properties)).toBe(properties);
});

test('does not replace a person property that the client sets with a copied property', () => {
  const sent = { $browser: 'a', $set: { $browser: 'b' }, $set_once: { $initial_browser: 'c', x: 1 } };
  expect(lift(sent)).toEqual(sent);
});

test.each([[null], ['text'], [7], [['a']]])(
  'replaces a `$set` with the invalid value %j when a property is copied to the person',
  (value) => {
    expect(lift({ $browser: 'a', $set: value, $set_once: value })).toEqual({
      $browser: 'a',
      $set: { $browser: 'a' },
      $set_once: { $initial_browser: 'a' },
    });
  },
);

describe('copying `$os_name` to the person', () => {
  test('copies `$os_name` to `$os` on the event and the person, and does not keep it on the person', () => {
    expect(lift({ $os_name: 'iOS' })).toEqual({
      $os_name: 'iOS',
      $os: 'iOS',
      $set: { $os: 'iOS' },
      $set_once: { $initial_os: 'iOS' },
    });
  });
  test('ignores `$os_name` if `$os` is set', () => {
    expect(lift({ $os_name: 'iOS', $os: 'Mac' })).toEqual({
      $os_name: 'iOS',
      $os: 'Mac',
      $set: { $os: 'Mac' },
      $set_once: { $initial_os: 'Mac' },
    });
  });
  test("merges `$os_name` in a client's `$set` into `$os`", () => {
    expect(lift({ $set: { $os_name: 'iOS', a: 1 }, $set_once: { $initial_os_name: 'iOS' } })).toEqual({
      $set: { $os: 'iOS', a: 1 },
      $set_once: { $initial_os: 'iOS' },
    });
    expect(lift({ $set: { $os_name: 'iOS', $os: 'Mac' } })).toEqual({ $set: { $os: 'Mac' } });
  });
});

test("copies a server event's properties to the person, except its operating system", () => {
  const sent = { $is_server: true, $os: 'Linux', $os_version: '6', $os_name: 'Linux', $app_version: '1' };
  expect(lift(sent)).toEqual({ ...sent, $set: { $app_version: '1' }, $set_once: { $initial_app_version: '1' } });
  expect(lift({ $is_server: true, $os_name: 'Linux' })).toEqual({ $is_server: true, $os_name: 'Linux' });
  expect(lift({ $is_server: 'true', $os: 'Mac' })).toHaveProperty('$set', { $os: 'Mac' });
});
