import { getManualUrl } from '../api/request.ts';
import { words } from '../words.ts';

/**
 * A link to the documentation section about a rule. The documentation is for the console's own version.
 * @param rule the rule in the API's format, for example `docs/wire-rules.md#dropped-events`
 */
export function RuleLink({ rule }: { rule: string }) {
  if (!rule.startsWith('docs/')) return <span className="mono">{rule}</span>;
  return (
    <a href={getManualUrl(rule)} target="_blank" rel="noopener noreferrer">
      {words.docs.link}
      <span className="only-heard"> {words.docs.newWindow}</span>
    </a>
  );
}
