import { personMode } from '../model/event.ts';
import type { RuleCase } from './rule-case.ts';
import { eventTime } from './rule-world.ts';

const hour = 3_600_000;
const now = Date.parse(eventTime);

function historical(no: number, hours: number, expected: boolean): RuleCase {
  return {
    no: [no],
    is: `an event in a migration is ${expected ? '' : 'not '}marked as historical if it is ${hours} hours old`,
    send: [
      {
        event: 'e',
        distinct_id: 'u',
        historical_migration: true,
        now: eventTime,
        timestamp: new Date(now - hours * hour).toISOString(),
      },
    ],
    outcomes: [{ row: { isHistorical: expected } }],
  };
}

export const rowCases: RuleCase[] = [
  {
    no: [92],
    is: 'an event without a client address has no $ip',
    send: [{ event: 'e', distinct_id: 'u' }],
    outcomes: [{ row: { properties: {} } }],
  },
  {
    no: [93],
    is: 'the client address is stored as $ip',
    send: [{ event: 'e', distinct_id: 'u', ip: '203.0.113.7' }],
    outcomes: [{ properties: { $ip: '203.0.113.7' } }],
  },
  {
    no: [94],
    is: 'an $ip that the client sent is kept',
    send: [{ event: 'e', distinct_id: 'u', ip: '203.0.113.7', properties: { $ip: '198.51.100.1' } }],
    outcomes: [{ properties: { $ip: '198.51.100.1' } }],
  },
  {
    no: [95],
    is: 'a project that anonymizes IP addresses does not store $ip, even if the client sent it',
    start: { project: { anonymizeIps: true } },
    send: [
      { event: 'e', distinct_id: 'u', ip: '203.0.113.7' },
      { event: 'e', distinct_id: 'u', properties: { $ip: '198.51.100.1' } },
    ],
    outcomes: [{ properties: { $ip: undefined } }, { properties: { $ip: undefined } }],
  },
  {
    no: [96],
    is: "an element's text and href are truncated",
    send: [
      {
        event: '$autocapture',
        distinct_id: 'u',
        properties: {
          $elements: [{ tag_name: 'a', $el_text: 'a'.repeat(2050), attr__href: 'b'.repeat(2050) }],
        },
      },
    ],
    outcomes: [
      {
        row: {
          properties: {},
          elementsChain: `a:attr__href="${'b'.repeat(2048)}"href="${'b'.repeat(2048)}"nth-child="0"nth-of-type="0"text="${'a'.repeat(400)}"`,
        },
      },
    ],
  },
  {
    no: [98],
    is: 'an event name of 300 characters is truncated to 200 characters',
    send: [{ event: 'é'.repeat(300), distinct_id: 'u' }],
    outcomes: [{ row: { event: 'é'.repeat(200) } }],
  },
  {
    is: 'an event name is truncated between characters, not within one',
    send: [{ event: '🦊'.repeat(201), distinct_id: 'u' }],
    outcomes: [{ row: { event: '🦊'.repeat(200) } }],
  },
  {
    is: 'an event with a distinct ID of 400 characters is stored, and with 401 it is dropped with a warning',
    send: [
      { event: 'e', distinct_id: '🦊'.repeat(400) },
      { event: 'e', distinct_id: 'u'.repeat(401) },
    ],
    outcomes: [{}, { dropped: 'distinct_id_too_long', warnings: ['skipping_event_invalid_distinct_id'] }],
    persons: [{ ids: ['🦊'.repeat(400)] }],
  },
  {
    no: [99],
    is: "the stored event contains the person properties, overridden by the event's $set",
    start: { persons: [{ ids: ['u'], properties: { foo: 'onPerson', pprop: 5 } }] },
    send: [{ event: 'e', distinct_id: 'u', properties: { $set: { foo: 'onEvent' } } }],
    outcomes: [{ row: { personProperties: { foo: 'onEvent', pprop: 5 }, personMode: personMode.full } }],
  },
  {
    is: 'a stored $exception contains its $set, although the person is not updated',
    start: { persons: [{ ids: ['u'], properties: { a: 1 } }] },
    send: [{ event: '$exception', distinct_id: 'u', properties: { $set: { a: 2 } } }],
    outcomes: [{ row: { personProperties: { a: 2 } } }],
  },
  {
    no: [103],
    is: "browser and campaign properties are copied to the person's properties and initial properties",
    send: [
      {
        event: '$pageview',
        distinct_id: 'u',
        properties: { $browser: 'Firefox', utm_source: 'mail', $current_url: 'https://x', plain: 1 },
      },
    ],
    persons: [
      {
        ids: ['u'],
        properties: {
          $browser: 'Firefox',
          utm_source: 'mail',
          $current_url: 'https://x',
          $initial_browser: 'Firefox',
          $initial_utm_source: 'mail',
          $initial_current_url: 'https://x',
        },
      },
    ],
    outcomes: [
      {
        row: {
          properties: {
            $browser: 'Firefox',
            utm_source: 'mail',
            $current_url: 'https://x',
            plain: 1,
            $set: { $browser: 'Firefox', utm_source: 'mail', $current_url: 'https://x' },
            $set_once: {
              $initial_browser: 'Firefox',
              $initial_utm_source: 'mail',
              $initial_current_url: 'https://x',
            },
          },
        },
      },
    ],
  },
  {
    is: '$performance_event and $snapshot copy nothing to the person',
    send: [
      { event: '$performance_event', distinct_id: 'u', properties: { $browser: 'Firefox', $os_name: 'iOS' } },
      { event: '$snapshot', distinct_id: 'u', properties: { $browser: 'Firefox' } },
    ],
    persons: [{ ids: ['u'], properties: {} }],
    outcomes: [{ properties: { $set: undefined, $os: undefined } }, { properties: { $set: undefined } }],
  },
  {
    is: '$sent_at is the time that the client reports',
    send: [{ event: 'e', distinct_id: 'u', sent_at: '2026-03-01T12:00:01.000Z' }],
    outcomes: [{ properties: { $sent_at: '2026-03-01T12:00:01.000Z' } }],
  },
  {
    is: 'bulky SDK properties and a claim to be verified are not stored',
    send: [
      {
        event: 'e',
        distinct_id: 'u',
        properties: {
          ph_product_tours: [1],
          $product_tours_activated: 1,
          $override_feature_flag_payloads: {},
          $verified: true,
          kept: 1,
        },
      },
    ],
    outcomes: [{ row: { properties: { kept: 1 } } }],
  },
  {
    is: 'a survey that was shown sets its date on the person, unless the client set one',
    send: [
      { event: 'survey shown', distinct_id: 'u', properties: { $survey_id: 's' } },
      { event: 'survey shown', distinct_id: 'v', properties: { $set: { $survey_last_seen_date: 'mine' } } },
      { event: 'survey shown', distinct_id: 'w', properties: { $process_person_profile: false } },
      { event: 'survey sent', distinct_id: 'x', properties: { $survey_response: 'yes' } },
      { event: 'survey dismissed', distinct_id: 'y' },
    ],
    persons: [
      { ids: ['u'], properties: { $survey_last_seen_date: eventTime } },
      { ids: ['v'], properties: { $survey_last_seen_date: 'mine' } },
      { ids: ['x'], properties: {} },
      { ids: ['y'], properties: {} },
    ],
    outcomes: [
      { properties: { $survey_id: 's', $set: { $survey_last_seen_date: eventTime } } },
      {},
      { properties: { $set: undefined } },
      { properties: { $survey_response: 'yes' } },
      {},
    ],
  },
  {
    no: [122],
    is: "the record's time becomes the event's time",
    send: [{ event: 'e', distinct_id: 'u', timestamp: '2026-02-28T10:00:00.123Z', now: eventTime }],
    outcomes: [{ row: { timestampMs: Date.parse('2026-02-28T10:00:00.123Z'), capturedAtMs: now } }],
  },
  ...['not a time', '', '99999-01-01T00:00:00Z', '0000-01-01T00:00:00.000Z', '2026-02-30T99:00:00Z'].map(
    (timestamp): RuleCase => ({
      no: [125],
      is: `the invalid time ${JSON.stringify(timestamp)} is replaced by the time of receipt, with a warning`,
      send: [{ event: 'e', distinct_id: 'u', timestamp, now: eventTime }],
      outcomes: [{ row: { timestampMs: now }, warnings: ['ignored_invalid_timestamp'] }],
    }),
  ),
  historical(138, 24, false),
  historical(138, 48, true),
  historical(138, 49, true),
  historical(138, 7 * 24, true),
  {
    no: [139],
    is: 'a migrated event with an invalid time is marked as historical',
    send: [{ event: 'e', distinct_id: 'u', historical_migration: true, timestamp: '', now: eventTime }],
    outcomes: [{ row: { isHistorical: true }, warnings: ['ignored_invalid_timestamp'] }],
  },
  historical(140, -1, false),
  {
    is: "an imported event moves the person's created_at back, but other late events do not",
    start: {
      persons: [
        { ids: ['u'], createdAt: eventTime },
        { ids: ['v'], createdAt: eventTime },
      ],
    },
    send: [
      {
        event: 'e',
        distinct_id: 'u',
        historical_migration: true,
        timestamp: '2025-01-01T00:00:00.000Z',
        now: eventTime,
      },
      {
        event: 'e',
        distinct_id: 'u',
        historical_migration: true,
        timestamp: '2025-02-01T00:00:00.000Z',
        now: eventTime,
      },
      { event: 'e', distinct_id: 'v', timestamp: '2025-01-01T00:00:00.000Z', now: eventTime },
    ],
    persons: [
      { ids: ['u'], createdAt: '2025-01-01T00:00:00.000Z', version: 1 },
      { ids: ['v'], createdAt: eventTime, version: 0 },
    ],
  },
  {
    is: 'a client report about dropped events becomes a warning and is not stored',
    send: [
      {
        event: '$$client_ingestion_warning',
        distinct_id: 'u',
        properties: { $$client_ingestion_warning_message: 'posthog-js client rate limited' },
      },
    ],
    persons: [],
    outcomes: [{ dropped: 'client_ingestion_warning', warnings: ['client_ingestion_warning'] }],
  },
  {
    is: 'integers beyond 2^53 in person or group properties are rounded and cause a warning',
    send: [
      { event: 'e', distinct_id: 'u', properties: { id: 2 ** 53, $set: { id: 2 ** 53, safe: 2 ** 53 - 1 } } },
      { event: 'e', distinct_id: 'u', properties: { $set_once: { nested: [{ id: -(2 ** 60) }] } } },
      {
        event: '$groupidentify',
        distinct_id: 'u',
        properties: { $group_type: 'org', $group_key: 'acme', $group_set: { id: 2 ** 53 } },
      },
      { event: 'e', distinct_id: 'u', properties: { id: 2 ** 60 } },
    ],
    outcomes: [
      { warnings: ['large_integer_rounded'] },
      { warnings: ['large_integer_rounded'] },
      { warnings: ['large_integer_rounded'] },
      {},
    ],
  },
  {
    no: [142],
    is: '$feature_flag_called is an ordinary event, because no project makes it anonymous by default',
    send: [{ event: '$feature_flag_called', distinct_id: 'u', properties: { $set: { a: 1 } } }],
    persons: [{ ids: ['u'], properties: { a: 1 } }],
  },
];
