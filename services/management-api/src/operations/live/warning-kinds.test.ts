import { readFileSync } from 'node:fs';
import { gatewayWarnings } from '@millrace/contracts';
import { kinds } from './warning-kinds.ts';

const textOf = (path: string) => readFileSync(new URL(`../../../../../${path}`, import.meta.url), 'utf8');

test('console-016: explains exactly the kinds of warnings that the gateway and the consumer store', () => {
  const ofConsumer = textOf('services/event-consumer/src/model/warning.ts');
  const own = [...ofConsumer.matchAll(/^ {2}(\w+): '(?:error|warning|info)',$/gm)].map(([, type = '']) => type);
  expect(own.length).toBeGreaterThan(15);
  expect(Object.keys(kinds).sort()).toEqual([...Object.keys(gatewayWarnings), ...own].sort());
});

test('live-043, console-016: refers only to rules that have a heading in the documentation of warnings', () => {
  for (const [type, { rule }] of Object.entries(kinds)) {
    const [page = '', section = ''] = rule.split('#');
    const headings = [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .replace(/\s/g, '-'),
    );
    expect([type, headings.includes(section)]).toEqual([type, true]);
  }
});
