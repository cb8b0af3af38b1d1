// The settings section where users find the project API key, rename or delete the project, and add environments.

import { useQuery } from '@tanstack/react-query';
import { meQuery } from '../../../api/queries.ts';
import { findDisplayNames, useProject } from '../../../frame/project.ts';
import { AddressHint } from '../../../parts/filter-bar.tsx';
import { QueryContent } from '../../../parts/states.tsx';
import { SnippetChoice, TestEvent } from '../../../sending/sending.tsx';
import { words } from '../../../words.ts';
import { SettingsBlock } from '../block.tsx';
import { useEnvironmentPath } from '../environment.ts';
import { NameForm } from '../name-form.tsx';
import { useSectionUrlState } from './address.ts';
import { ProjectKey, SecretKey } from './keys.tsx';
import { DeleteProjectBlock, EnvironmentList } from './places.tsx';
import { text } from './words.ts';

export function ProjectSection() {
  const { unknown } = useSectionUrlState();
  const project = useProject();
  const environmentPath = useEnvironmentPath();
  const me = useQuery(meQuery);
  return (
    <>
      <AddressHint unknown={unknown} />
      <QueryContent query={me} what={words.sections.project}>
        {({ organization }) => {
          const names = findDisplayNames(organization ?? { teams: [], projects: [] }, project);
          return (
            <>
              <NameForm
                key={names.project}
                title={text.name}
                about={names.environment === null ? text.nameText : text.nameOfProject}
                name={names.project}
                path={`/api/projects/${project.project_id}`}
                maxLength={200}
              />
              {names.environment !== null && (
                <NameForm
                  title={text.environmentName}
                  about={text.environmentNameText(names.project)}
                  name={names.environment}
                  path={environmentPath}
                  maxLength={200}
                />
              )}
              <ProjectKey />
              <SecretKey />
              <SettingsBlock title={text.send} about={text.sendText}>
                <div className="settings-sending">
                  <div className="form">
                    <SnippetChoice />
                  </div>
                  <div className="form">
                    <TestEvent />
                  </div>
                </div>
              </SettingsBlock>
              <EnvironmentList />
              <DeleteProjectBlock names={names} />
            </>
          );
        }}
      </QueryContent>
    </>
  );
}
