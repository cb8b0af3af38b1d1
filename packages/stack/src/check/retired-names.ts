// Names that must not be used any more, because only a glossary explained them. A check reports each use.

import { readSourceFiles } from '../docs/documents.ts';

const retiredNames: Readonly<Record<string, string>> = {
  addShown: 'addVisibilityCondition',
  askInsight: 'runInsight',
  Asker: 'QueryCaller',
  CoversLess: 'RebuildLosesEvents',
  everyField: 'allOtherFields',
  foundCohort: 'requireCohort',
  FunnelLife: 'FunnelPath',
  FunnelUnit: 'FunnelActor',
  keepOut: 'blockAddress',
  KeptAnswer: 'CachedResult',
  liveDashboard: 'requireDashboard',
  livesText: 'buildFunnelPathsSql',
  newestNode: 'findNewestNodeRelease',
  noteGood: 'recordSuccess',
  noteWrong: 'recordFailure',
  objectsIn: 'filterObjects',
  OidcQuestion: 'OidcSecrets',
  overallOfAll: 'sumOfSeries',
  SentOutcome: 'RuleCaseOutcome',
  SeriesQuestion: 'SeriesQuery',
  sightOf: 'createVisibilityCheck',
  toAnswer: 'toContent or toResponse',
  UnitsBehind: 'ActorsSource',
  whatIsKept: 'a noun',
  whoAsks: 'a noun',
};

const pattern = new RegExp(`\\b(?:${Object.keys(retiredNames).join('|')})\\b`);

export async function findRetiredNames(root: string): Promise<string[]> {
  const files = await readSourceFiles(root, ['packages', 'services', 'test-e2e'], ['.ts', '.tsx']);
  return files
    .filter(({ path }) => !path.startsWith('packages/stack/src/check/'))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) => {
        const name = pattern.exec(line)?.[0];
        return name === undefined ? [] : [`${path}:${index + 1}: "${name}": use ${retiredNames[name]}`];
      }),
    );
}
