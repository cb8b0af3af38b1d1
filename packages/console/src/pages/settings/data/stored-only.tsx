// Lists project settings that Millrace stores for PostHog clients but does not use.

import { formatValue } from '../../../event-detail/summary.ts';
import { useProject } from '../../../frame/project.ts';
import { SettingsBlock } from '../block.tsx';
import { type Environment, useEnvironmentPath } from '../environment.ts';
import { effects } from './effects/words.ts';
import { TextWithCode } from './setting-control.tsx';
import { text } from './words.ts';

const stored = Object.entries(effects).filter(([, { does }]) => does !== 'acts');

export function StoredOnly() {
  const path = useEnvironmentPath();
  const environment = useProject() as Environment;
  return (
    <SettingsBlock title={text.stored} about={text.storedText} request={{ path }}>
      <details>
        <summary className="settings-summary">{text.storedCount(stored.length)}</summary>
        <table className="table settings-table">
          <thead>
            <tr>
              <th>{text.columns.setting}</th>
              <th>{text.columns.value}</th>
              <th>{text.columns.about}</th>
            </tr>
          </thead>
          <tbody>
            {stored.map(([name, { does, effect }]) => (
              <tr key={name}>
                <td>
                  <code>{name}</code>
                </td>
                <td className="mono" data-label={text.columns.value}>
                  {formatValue(environment[name])}
                </td>
                <td className="quiet">
                  <TextWithCode words={effect} /> {does === 'off' && <span className="pill">{text.off}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </SettingsBlock>
  );
}
