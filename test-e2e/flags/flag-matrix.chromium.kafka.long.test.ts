import { createTestTenant, type TestTenant } from '@millrace/testing';
import { printTable } from '../support/print-table.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { createBrowserFlagSdk } from './browser-flag-sdk.ts';
import { createSecretKey } from './create-secret-key.ts';
import { countDifferences, readDocumentedDifferences } from './documented-differences.ts';
import {
  findDisagreeingCases,
  findDisagreements,
  findUnexpectedValues,
  type Tally,
  tallyByCategory,
} from './expect-agreement.ts';
import { expectedApiRejections } from './expected-api-rejections.ts';
import { caseFile, type FlagCase, listCases } from './flag-cases.ts';
import type { FlagSdk, SdkResult } from './flag-sdk.ts';
import { type ApiRejections, loadFlags } from './load-flags.ts';
import { createNodeFlagSdk } from './node-flag-sdk.ts';
import { createProgramFlagSdks } from './program-flag-sdks.ts';

/**
 * Every SDK evaluates the same cases through the server, and also locally if the SDK supports local evaluation. The
 * entire system is running. Tests in services/ingest-gateway check the server's results without an SDK.
 */
const node = createNodeFlagSdk();
const programs = await createProgramFlagSdks();
const querying: FlagSdk[] = [node, ...programs, createBrowserFlagSdk()];
const evaluating: [keyof FlagCase['locally'], FlagSdk | undefined][] = [
  ['python', programs.find(({ name }) => name.startsWith('posthog-python'))],
  ['node', node],
];
const cases = listCases(0);
/** Number of cases that test other versions of the property matching rules, which projects cannot select. */
const skipped = listCases(1).length;
const tallies = new Map<string, Map<string, Tally>>();
const ownTallies: Partial<Record<keyof FlagCase['locally'], Map<string, Tally>>> = {};
let services: RunningServices;
let tenant: TestTenant;
let rejections: ApiRejections;

beforeAll(async () => {
  services = await startServices({ eventLog: 'postgres' });
  tenant = await createTestTenant(services.databaseUrl);
  const [document] = caseFile.docs;
  if (document === undefined) throw new Error('The table of cases has no document');
  rejections = await loadFlags({ services, tenant, document, staticCohorts: caseFile.static_cohorts });
}, 300_000);
afterAll(async () => {
  printAgreement();
  await services?.stop();
});

test('the management API accepts every valid flag', () => {
  expect(rejections).toEqual(expectedApiRejections);
});

for (const sdk of querying) {
  // If an SDK is not available, its tests are skipped, which fails the build in CI.
  (sdk.unavailable === null ? test : test.skip)(
    `${sdk.name} returns the same values as the server`,
    async () => {
      const results = await evaluatePatiently(sdk);
      tallies.set(sdk.name, tallyByCategory(cases, results, { isLocal: false }));
      expect(findDisagreements(cases, results)).toEqual([]);
    },
    480_000,
  );
}

for (const [language, sdk] of evaluating) {
  (sdk?.unavailable === null ? test : test.skip)(
    `${sdk?.name} only differs from the server in known cases when it evaluates locally`,
    async () => {
      if (sdk === undefined) throw new Error(`There is no SDK for ${language}`);
      // The Node.js SDK reads definitions with a secret key. The other SDKs use a personal API key.
      const definitionsKey = language === 'node' ? await createSecretKey(services, tenant) : tenant.personalApiKey;
      const results = await sdk.evaluate({ ...targetOf(), definitionsKey }, cases);
      const own = tallyByCategory(cases, results, { isLocal: true });
      tallies.set(`${sdk.name} by itself`, own);
      ownTallies[language] = own;
      expect(findUnexpectedValues(cases, results, language)).toEqual([]);
    },
    300_000,
  );
}

(evaluating.every(([, sdk]) => sdk?.unavailable === null) ? test : test.skip)(
  'docs/flags.md lists exactly the observed differences',
  () => {
    const { python, node: ofNode } = ownTallies;
    if (python === undefined || ofNode === undefined) throw new Error('An SDK has not evaluated');
    const documented = readDocumentedDifferences();
    expect(countDifferences(documented, { python, node: ofNode })).toEqual(documented);
  },
);

/**
 * Evaluates cases again if their values differ. The gateway waits up to 250 ms for stored properties and then evaluates
 * without them, which may happen on a busy machine.
 */
async function evaluatePatiently(sdk: FlagSdk): Promise<Map<number, SdkResult>> {
  const results = new Map<number, SdkResult>();
  for (let left = cases, attempt = 1; left.length > 0 && attempt <= 5; attempt += 1) {
    for (const [number, result] of await sdk.evaluate({ ...targetOf(), definitionsKey: null }, left)) {
      results.set(number, result);
    }
    left = findDisagreeingCases(cases, results);
  }
  return results;
}

function targetOf() {
  return { ingestUrl: services.ingestUrl, projectApiKey: tenant.projectApiKey };
}

function printAgreement(): void {
  const categories = [...new Set(cases.map(({ category }) => category))];
  const names = [...tallies.keys()];
  const cell = ({ agree, queries: asks, differ }: Tally) =>
    [`${agree}`, asks > 0 ? `${asks} asked` : '', differ > 0 ? `${differ} other` : ''].filter(Boolean).join(', ');
  const none: Tally = { agree: 0, queries: 0, differ: 0 };
  printTable('Flags: values that agree with the server, by category and SDK', {
    rows: [
      ['Category', 'Cases', ...names.map((name) => name.replace('posthog-', ''))],
      ...categories.map((category) => [
        category,
        String(cases.filter((one) => one.category === category).length),
        ...names.map((name) => cell(tallies.get(name)?.get(category) ?? none)),
      ]),
    ],
    notes: [
      `! ${skipped} cases are skipped: no project can be given matching version 2 of properties`,
      ...querying.flatMap(({ name, unavailable }) =>
        unavailable === null ? [] : [`! ${name} is skipped: ${unavailable}`],
      ),
    ],
  });
}
