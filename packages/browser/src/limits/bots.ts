import type { Feature } from '../client/core.ts';
import { page } from '../page/globals.ts';

/** What crawlers, previews and checks that run scripts call themselves. */
const names = new RegExp(
  'bot[/;]|bot\\.(htm|php)|(ads|slack|store|vercel)bot|uptime ?(bot|robot)|crawler|baiduspider|bytespider|slurp|prerender|preview|lighthouse|' +
    'headlesschrome|lightpanda|cypress|screaming frog|sitebulb|siteaudit|hypefactors|deepscan|facebook(external|catalog)|' +
    'meta-external|hubspot|ia_archiver|nessus|turnitin|vercel-screenshot|chatgpt-user|google(other|weblight|-| favicon)|' +
    '(apis|duplexweb|feedfetcher|mediapartners)-google',
  'i',
);

/** Drops what no person does, and says so once. */
export const filterBots: Feature = ({ options, addGate, addProperties, log }) => {
  const { webdriver, userAgent = '' } = page?.navigator ?? {};
  const isBot = webdriver || names.test(userAgent);
  let isTold = false;
  addGate(() => {
    if (options.opt_out_useragent_filter || !isBot) return true;
    if (!isTold) log.warn('This looks like a bot: its events are dropped, unless you set opt_out_useragent_filter');
    isTold = true;
    return false;
  });
  addProperties(() => (options.opt_out_useragent_filter ? { $browser_type: isBot ? 'bot' : 'browser' } : {}));
  return undefined;
};
