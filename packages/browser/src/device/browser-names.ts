/** A browser's name, what it calls itself (its version follows), and what its version follows where that is something else. */
const browsers: [name: string, mark: string, version?: string][] = [
  ['Opera Mini', 'OPR/.*Mini'],
  ['Opera', ' OPR/', 'OPR/'],
  ['Oculus Browser', 'OculusBrowser', 'OculusBrowser/'],
  ['Samsung Internet', 'SamsungBrowser', 'SamsungBrowser/'],
  ['Microsoft Edge', 'Edg', 'Edge?/'],
  ['Vivaldi', 'Vivaldi/'],
  ['Yandex', 'YaBrowser/'],
  ['Whale', 'Whale/'],
  ['DuckDuckGo', '(?:DuckDuckGo|Ddg)/'],
  ['Claude', 'Claude/'],
  ['Codex', 'Codex/'],
  ['ChatGPT', 'ChatGPT/'],
  ['Facebook Mobile', 'FBIOS', 'none'],
  ['UC Browser', 'UC(?:WEB|Browser)', 'UC(?:WEB|Browser)/'],
  ['Chrome iOS', 'CriOS', 'CriOS/'],
  ['Chrome', 'Chrome', 'Chrome/'],
  ['Firefox iOS', 'FxiOS', 'FxiOS/'],
  ['Mobile Safari', 'Mobile.*Safari', 'Version/'],
  ['Safari', 'Safari', 'Version/'],
  ['Firefox', 'Firefox', 'Firefox/'],
];

/** The first that fits: most call themselves by the names of those they grew from, too. */
export function browserOf(agent: string, isBrave: boolean): { name: string; version: number | null } {
  const [name, mark = '', versionMark = mark] = isBrave
    ? ['Brave', 'Brave/']
    : (browsers.find(([, sign]) => new RegExp(sign).test(agent)) ?? ['']);
  const version = name && new RegExp(`${versionMark}(\\d+(?:\\.\\d+)?)`).exec(agent)?.[1];
  return { name, version: version ? Number.parseFloat(version) : null };
}
