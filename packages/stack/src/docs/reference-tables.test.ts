import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readSourceFiles } from './documents.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../../..');
const read = (path: string) => readFile(join(root, path), 'utf8');

async function tableRows(path: string): Promise<string[][]> {
  const lines = (await read(path)).split('\n').filter((line) => line.startsWith('|'));
  return lines
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
    .filter((_, at) => !/^\| -/.test(lines[at] ?? '') && !/^\| -/.test(lines[at + 1] ?? ''));
}

describe('documented error codes', () => {
  const folders = [
    'services/ingest-gateway/src',
    'services/management-api/src',
    ...['accounts', 'http', 'insights', 'flags'].map((name) => `packages/${name}/src`),
  ];
  /** Codes that are not documented: SCIM's codes, and codes that are replaced before a client could see them. */
  const isNotInErrors = new Set(['uniqueness', 'invalidValue', 'quota_limited', 'slow']);
  let source: string;
  let documented: Set<string>;

  beforeAll(async () => {
    const files = (await readSourceFiles(root, folders, ['.ts'])).filter(
      ({ path }) => !/\.test\.ts$|\/testing\/|\/tests\//.test(path),
    );
    source = files.map(({ text }) => text).join('\n');
    const cells = (await tableRows('docs/errors.md')).map(([first = '']) => first);
    documented = new Set(cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, code = '']) => code)));
  });

  test('every error code in the source has a row in docs/errors.md', () => {
    const codes = [...source.matchAll(/\bcode: '(\w*[a-z]\w*)'/g)].map(([, code = '']) => code);
    expect(codes.length).toBeGreaterThan(150);
    const missing = [...new Set(codes)].filter((code) => !documented.has(code) && !isNotInErrors.has(code));
    expect(missing).toEqual([]);
  });

  test('every error code in docs/errors.md is in the source', () => {
    expect(documented.size).toBeGreaterThan(130);
    const isInSource = (code: string) => new RegExp(`['"]${code}['"]|\\b${code}:`).test(source);
    expect([...documented].filter((code) => !isInSource(code))).toEqual([]);
  });
});

describe('documented limits', () => {
  const units: Record<string, number> = { MiB: 2 ** 20, KiB: 2 ** 10, s: 1000 };

  /** Parses `20 MiB`, `1,010,000 bytes`, `30 s` or `6 per day` as a number of bytes, milliseconds or items. */
  function amountOf(value: string): number {
    if (value === 'indefinitely') return 0;
    const [, digits = '', unit = ''] = /^([\d,]+) ?(\w*)/.exec(value) ?? [];
    return Number(digits.replaceAll(',', '')) * (units[unit] ?? 1);
  }

  test("a documented limit that can be configured equals the setting's default", async () => {
    const configuration = await read('docs/configuration.md');
    const rows = (await tableRows('docs/limits.md')).filter(([, , setting]) => setting !== '');
    expect(rows.length).toBeGreaterThan(25);
    for (const [limit, value = '', setting = ''] of rows) {
      const [, stored] = new RegExp(`^\\| ${setting} \\| \`(\\d+)\``, 'm').exec(configuration) ?? [];
      expect([limit, setting, amountOf(value)]).toEqual([limit, setting, Number(stored)]);
    }
  });

  const api = 'services/management-api/src';
  const gateway = 'services/ingest-gateway/src';
  const constants: Record<string, [path: string, name: string]> = {
    'Nesting of the JSON of an event': [`${gateway}/json/scan.ts`, 'maxNesting'],
    'JSON values in one request': [`${gateway}/body/outline.ts`, 'maxValues'],
    'Parts of a multipart form': [`${gateway}/capture/multipart.ts`, 'maxParts'],
    'Headers of a request': [`${gateway}/app.ts`, 'maxHeaderBytes'],
    'Project API key': [`${gateway}/capture/project-api-key.ts`, 'maxKeyBytes'],
    'Distinct ID': [`${gateway}/capture/client-event.ts`, 'maxCodePoints'],
    'Name of an event': ['services/event-consumer/src/values/text.ts', 'maxEventNameCharacters'],
    'Group types of a project': ['services/event-consumer/src/rules/groups.ts', 'maxGroupTypes'],
    'Properties of a person, or of a group': [
      'services/event-consumer/src/rules/person-properties.ts',
      'maxPersonPropertiesBytes',
    ],
    'Longest event or property name for which a definition is created': [
      'packages/contracts/src/event-names.ts',
      'maxDefinedNameBytes',
    ],
    'Results on one page of a list': ['packages/http/src/pagination.ts', 'maxLimit'],
    'Text of a search': [`${api}/sql/longest-needle.ts`, 'longestNeedle'],
    'Property filters of a list': [`${api}/analytics/property-filters/parse-property-filters.ts`, 'maxFilters'],
    'Offset in the list of events': [`${api}/analytics/events/routes.ts`, 'maxSkipped'],
    'Duration of a search': [`${api}/start.ts`, 'searchTimeoutMs'],
    'Duration of a search for persons, before the page ends with those found so far': [
      `${api}/analytics/persons/search.ts`,
      'longMs',
    ],
    'The same, if it has found persons by the start of an email or distinct ID': [
      `${api}/analytics/persons/search.ts`,
      'shortMs',
    ],
    'Memory of one query': [`${api}/analytics/query/query-runner.ts`, 'maxBytes'],
    'Size of the query of an insight': [`${api}/analytics/insights/rules.ts`, 'maxKiB'],
    'Results of an insight that a public link computes because they are not cached': [
      `${api}/analytics/sharing/public-link.ts`,
      'computationsPerMinute',
    ],
    'Variables of a project': [`${api}/analytics/insight-variables/write.ts`, 'maxVariables'],
    'Tiles of a dashboard': [`${api}/analytics/insights/write.ts`, 'maxTiles'],
    'Characters of a text on a dashboard': [`${api}/analytics/dashboards/tiles.ts`, 'maxCharacters'],
    'Insights in one report': ['packages/reports/src/content.ts', 'maxInsights'],
    'Email addresses of a subscription': [`${api}/deliveries/subscriptions/fields.ts`, 'maxAddresses'],
    'Runs of a backfill': ['packages/contracts/src/backfill-limit.ts', 'maxBackfillRuns'],
    'Request for flags': [`${gateway}/flags/flag-request.ts`, 'maxFlagRequestBytes'],
    'Flags of an environment': [`${api}/flags/feature-flags/changes/rules.ts`, 'maxFlags'],
    'Filters of one flag': [`${api}/flags/feature-flags/filters/parse.ts`, 'maxBytes'],
    'Filters of all flags of an environment': [`${api}/flags/feature-flags/changes/rules.ts`, 'maxMebibytes'],
    'Regular expressions in all flags of an environment': [
      `${api}/flags/feature-flags/changes/rules.ts`,
      'maxPatterns',
    ],
    'Expensive requests of one address that wait': [`${gateway}/flags/expensive-requests.ts`, 'maxPerAddress'],
    'Expensive requests of one project that wait': [`${gateway}/flags/expensive-requests.ts`, 'maxPerProject'],
    'Filters of a cohort': [`${api}/analytics/cohorts/filters.ts`, 'maxLeaves'],
    'Rows in the file of a static cohort': [`${api}/analytics/cohorts/member-file.ts`, 'maxRows'],
    'Flag calls that exposures count': [`${api}/flags/feature-flags/exposures/exposures.ts`, 'maxExposures'],
    'Personal API keys of a user': ['packages/accounts/src/keys/personal-api-keys.ts', 'maxPersonalApiKeys'],
    'Passkeys of a user': [`${api}/identity/sign-in/passkeys.ts`, 'maxPasskeys'],
    'Sessions of a user': ['packages/accounts/src/sign-in/sessions.ts', 'maxSessions'],
    'Password length': [`${api}/identity/sign-in/password-rules.ts`, 'maxLength'],
    'Roles of an organization': ['packages/accounts/src/roles/roles.ts', 'maxRoles'],
    'Access rules for records in a project': ['packages/accounts/src/projects/access-rules.ts', 'maxRecordRules'],
    'Invites in one request': [`${api}/identity/invites/rules.ts`, 'maxInvites'],
    'Certificates of a SAML provider': ['packages/accounts/src/domains/saml-certificates.ts', 'maxCertificates'],
  };
  /** The units of constants that are not in bytes, as docs/limits.md uses them. */
  const inUnits: Record<string, number> = { maxKiB: 2 ** 10, maxMebibytes: 2 ** 20 };

  test('a documented limit without a setting equals its constant in the source', async () => {
    const rows = (await tableRows('docs/limits.md')).filter(([, , setting]) => setting === '');
    expect(rows.map(([limit]) => limit).sort()).toEqual(Object.keys(constants).sort());
    for (const [limit = '', value = ''] of rows) {
      const [path = '', name = ''] = constants[limit] ?? [];
      const [, factors = ''] = new RegExp(`const ${name} = ([\\d_ *]+);`).exec(await read(path)) ?? [];
      const stored = factors
        .replaceAll('_', '')
        .split('*')
        .reduce((product, factor) => product * Number(factor), inUnits[name] ?? 1);
      expect([limit, amountOf(value)]).toEqual([limit, stored]);
    }
  });
});
