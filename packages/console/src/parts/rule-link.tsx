import { consolePath } from '../api/request.ts';
import { words } from '../words.ts';

/**
 * Leads to the section of the documents that holds a rule. These pages bring the documents along: they are those of the version that
 * runs, and no other host is asked.
 * @param rule as the API names it: `docs/wire-rules.md#dropped-events`
 */
export function RuleLink({ rule }: { rule: string }) {
  const [, name, section = ''] = /^docs\/([\w-]+)\.md(?:#([\w-]+))?$/.exec(rule) ?? [];
  if (name === undefined) return <span className="mono">{rule}</span>;
  return (
    <a href={`${consolePath}rules/${name}#${section}`} target="_blank" rel="noopener noreferrer">
      {words.rules.link}
      <span className="only-heard"> {words.rules.newWindow}</span>
    </a>
  );
}
