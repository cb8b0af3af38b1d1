import type { PageLimits } from './page-limit.ts';

/**
 * Keeps the text of a list's statement for each form of `LIMIT`, of which there are few. A text put together anew for each
 * request has to be read as a whole to find out that it is the statement prepared already.
 */
export function pageText(build: (limits: PageLimits) => string): (limits: PageLimits) => string {
  const texts = new Map<string, string>();
  return (limits) => {
    let text = texts.get(limits.page);
    if (text === undefined) {
      text = build(limits);
      texts.set(limits.page, text);
    }
    return text;
  };
}
