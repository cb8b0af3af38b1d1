import type { Feature } from '../client/core.ts';
import { page } from '../page/globals.ts';

/** What crawlers, previews and checks that run scripts call themselves. */
const names =
  /bot[/;]|bot\.(htm|php)|(ads|slack|store|vercel)bot|uptime ?(bot|robot)|-google|google(other|weblight|-| (favicon|web))|crawler|spider|slurp|prerender|preview|lighthouse|headlesschrome|lightpanda|cypress|screaming frog|siteaudit|facebook(external|catalog)|meta-external|hubspot|chatgpt-user|vercel-screen/i;

/** Drops what no person does, and says so once. */
export const filterBots: Feature = ({ options, addGate, addProperties, log }) => {
  const { webdriver, userAgent = '' } = page?.navigator ?? {};
  const isBot = webdriver || names.test(userAgent);
  let isTold = false;
  addGate(() => {
    if (options.opt_out_useragent_filter || !isBot) return true;
    if (!isTold) log.warn('This looks like a bot: its events are dropped. Option: opt_out_useragent_filter');
    isTold = true;
    return false;
  });
  addProperties(() => (options.opt_out_useragent_filter ? { $browser_type: isBot ? 'bot' : 'browser' } : {}));
  return undefined;
};
