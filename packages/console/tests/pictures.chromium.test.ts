import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '@millrace/runtime';
import { sections } from '../src/pages/settings/sections.ts';
import { pages } from '../src/pages.ts';
import { fillCornerShop, nameCornerShop, shopTime, views } from './corner-shop.ts';
import { shrinkPng } from './small-png.ts';
import { type RunningConsole, startConsole } from './start-console.ts';
import { everyPage, visitShop } from './visit-pages.ts';

/**
 * Checks that all screenshots for the documentation exist. `npm run screenshots` takes them and writes the list of
 * pages.
 */
const isTaking = readEnvironment().MILLRACE_SCREENSHOTS === 'write';
const root = fileURLToPath(new URL('../../../', import.meta.url));
const folder = join(root, 'docs/images/console');
const document = join(root, 'docs/operations/console.md');
const list = /(<!-- pages: npm run screenshots -->\n)[\s\S]*?(<!-- end of pages -->)/;
const limitBytes = 3_000_000;

const desk = { width: 1280, height: 800 };
const phone = { width: 360, height: 640 };
interface Picture {
  name: string;
  path: string;
  size: { width: number; height: number };
  isEmpty?: boolean;
}
const nameOf = (path: string) => path.replaceAll('/', '-');
const pictures: Picture[] = [
  { name: 'first', path: 'live', size: desk, isEmpty: true },
  ...everyPage.map((path) => ({ name: nameOf(path), path: views[path] ?? path, size: desk })),
  ...['live', 'flags'].map((path) => ({ name: `${path}-phone`, path, size: phone })),
];
const schemes = ['light', 'dark'] as const;
const mailFile = 'report-mail.png';
const files = [...pictures.flatMap(({ name }) => schemes.map((scheme) => `${name}-${scheme}.png`)), mailFile];

function listOfPages(): string {
  const shown = pages.flatMap(({ path, title, question }) =>
    path === 'settings'
      ? sections.map((section) => ({ name: nameOf(`settings/${section.path}`), title: `${title}: ${section.title}` }))
      : [{ name: nameOf(path), title, question }],
  );
  const entries = shown.map(({ name, title, ...more }) => {
    const question = 'question' in more ? `${more.question}\n\n` : '';
    const dark = `<source media="(prefers-color-scheme: dark)" srcset="../images/console/${name}-dark.png">`;
    const light = `<img src="../images/console/${name}-light.png" alt="The page ${title}" width="720">`;
    return `### ${title}\n\n${question}<picture>${dark}${light}</picture>\n`;
  });
  return `\n${entries.join('\n')}\n`;
}

async function take(console: RunningConsole, { name, path, size, isEmpty = false }: Picture): Promise<void> {
  const page = await visitShop(console, path, { isOpen: !isEmpty });
  await page.setViewportSize(size);
  for (const colorScheme of schemes) {
    await page.emulateMedia({ colorScheme });
    await page.evaluate('document.fonts.ready.then(() => {})');
    // The list on the Live page needs some time to adapt to a new size.
    await page.waitForTimeout(500);
    const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    await writeFile(join(folder, `${name}-${colorScheme}.png`), shrinkPng(png));
  }
  await page.context().close();
}

/** Takes a screenshot of a report about the shop's dashboard, as a subscription would email it. */
async function takeMail(console: RunningConsole): Promise<void> {
  const page = await visitShop(console, 'dashboards', { isOpen: true });
  await page.setViewportSize({ width: 720, height: 900 });
  const [, projectId] = /projects\/(\d+)/.exec(page.url()) ?? [];
  await page.goto(
    new URL(`/api/projects/${projectId}/subscriptions/preview/?dashboard=1&format=html`, page.url()).href,
  );
  await writeFile(join(folder, mailFile), shrinkPng(await page.screenshot({ fullPage: true })));
  await page.context().close();
}

if (isTaking) {
  beforeAll(async () => {
    await rm(folder, { recursive: true, force: true });
    await mkdir(folder, { recursive: true });
    const console = await startConsole({ clock: shopTime });
    await nameCornerShop(console);
    for (const picture of pictures.filter(({ isEmpty }) => isEmpty)) await take(console, picture);
    await fillCornerShop(console);
    for (const picture of pictures.filter(({ isEmpty }) => !isEmpty)) await take(console, picture);
    await takeMail(console);
    await console.stop();
    const text = await readFile(document, 'utf8');
    await writeFile(
      document,
      text.replace(list, (_, begin: string, end: string) => begin + listOfPages() + end),
    );
  }, 900_000);
}

it('the image folder contains exactly the screenshots that `npm run screenshots` takes', async () => {
  expect((await readdir(folder)).sort()).toEqual([...files].sort());
});

it('the total size of the screenshots is below the limit', async () => {
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(limitBytes);
});

it('the console document shows the screenshots of each page, and the README shows only screenshots that exist', async () => {
  const [, , end] = list.exec(await readFile(document, 'utf8')) ?? [];
  expect(end).toBeDefined();
  expect(await readFile(document, 'utf8')).toContain(listOfPages());
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const named = [...readme.matchAll(/docs\/images\/console\/([\w-]+\.png)/g)].map(([, file]) => file);
  expect(named).not.toEqual([]);
  expect(named.filter((file) => !files.includes(file ?? ''))).toEqual([]);
});
