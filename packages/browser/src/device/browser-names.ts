/**
 * A browser's name, and the sign it is known by, before its version, where that is not its name. The first that fits is
 * it: most call themselves by the names of those they grew from, too.
 */
const browsers =
  'Opera Mini=OPR/.*Mini,Opera=OPR/,Oculus Browser=OculusBrowser/,Samsung Internet=SamsungBrowser/,Microsoft Edge=Edge?/,' +
  'Vivaldi,Yandex=YaBrowser/,Whale,DuckDuckGo=Ddg/,DuckDuckGo,Claude,Codex,ChatGPT,Facebook Mobile=FBIOS,' +
  'UC Browser=UCBrowser/,UC Browser=UCWEB/,Chrome iOS=CriOS/,Chrome,Firefox iOS=FxiOS/,Mobile Safari=Mobile.*Safari,' +
  'Safari,Firefox';

export function browserOf(agent: string, isBrave: boolean): { name: string; version: number | null } {
  if (isBrave) return { name: 'Brave', version: versionAfter('Brave/', agent) };
  for (const browser of browsers.split(',')) {
    const [name = '', sign = `${name}/`] = browser.split('=');
    if (!new RegExp(sign).test(agent)) continue;
    return { name, version: versionAfter(name.endsWith('Safari') ? 'Version/' : sign, agent) };
  }
  return { name: '', version: null };
}

function versionAfter(sign: string, agent: string): number | null {
  const version = new RegExp(`${sign}(\\d+(\\.\\d+)?)`).exec(agent)?.[1];
  return version ? Number(version) : null;
}
