import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { meQuery } from '../../../api/queries.ts';
import { findDisplayNames, useHasLevel, useHasLevelInOrganization, useProject } from '../../../frame/project.ts';
import { Button } from '../../../parts/button.tsx';
import { ConfirmationDialog, SettingsBlock } from '../block.tsx';
import { MakeDialog } from '../make-dialog.tsx';
import { useRecordRemoval } from '../removal.ts';
import { text as shared } from '../words.ts';
import { useSectionUrlState } from './address.ts';
import { text } from './words.ts';

/** Lists the organization's environments by project, with buttons for creating projects and environments. */
export function EnvironmentList() {
  const { view, change } = useSectionUrlState();
  const open = useProject();
  const mayMake = useHasLevelInOrganization(8);
  const organization = useQuery(meQuery).data?.organization;
  if (!organization) return null;
  const { project } = findDisplayNames(organization, open);
  const making = {
    project: {
      title: text.newProject,
      about: text.newProjectText,
      path: `/api/organizations/${open.organization}/projects`,
    },
    environment: {
      title: text.newEnvironment,
      about: text.newEnvironmentText(project),
      path: `/api/projects/${open.project_id}/environments`,
    },
  };
  const buttons = (
    <>
      <Button isDisabled={!mayMake} onPress={() => change({ new: 'environment' })}>
        {text.newEnvironment}
      </Button>
      <Button isDisabled={!mayMake} onPress={() => change({ new: 'project' })}>
        {text.newProject}
      </Button>
    </>
  );
  return (
    <SettingsBlock
      title={text.places}
      about={text.placesText}
      buttons={buttons}
      request={{ path: '/api/environments' }}
    >
      {!mayMake && <p className="hint">{shared.needsAdministrator}</p>}
      <table className="table settings-table">
        <thead>
          <tr>
            <th>{text.columns.project}</th>
            <th>{text.columns.environment}</th>
            <th>{text.columns.zone}</th>
            <th>{text.columns.id}</th>
          </tr>
        </thead>
        <tbody>
          {organization.teams.map((team) => (
            <tr key={team.id}>
              <td>
                <Link to={`/projects/${team.id}/settings/project`}>{findDisplayNames(organization, team).project}</Link>{' '}
                {team.id === open.id && <span className="pill pill-good">{text.here}</span>}
              </td>
              <td data-label={text.columns.environment}>{team.name}</td>
              <td data-label={text.columns.zone}>{team.timezone}</td>
              <td className="mono" data-label={text.columns.id}>
                {team.id}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {view.new !== '' && mayMake && (
        <MakeDialog {...making[view.new]} maxLength={200} onClose={() => change({ new: '' }, { replace: true })} />
      )}
    </SettingsBlock>
  );
}

/** A button that deletes the environment. If it is the project's only environment, the button deletes the project. */
export function DeleteProjectBlock({ names }: { names: ReturnType<typeof findDisplayNames> }) {
  const mayRemove = useHasLevel(8);
  const { id, project_id: projectId } = useProject();
  const teams = useQuery(meQuery).data?.organization?.teams ?? [];
  const count = teams.filter((team) => team.project_id === projectId).length;
  const [doomed, setDoomed] = useState<Doomed | null>(null);
  const project: Doomed = {
    title: text.removeProjectTitle(names.project),
    verb: text.removeProject,
    name: names.project,
    path: `/api/projects/${projectId}`,
    environments: count,
  };
  const environment: Doomed | null =
    names.environment === null
      ? null
      : {
          title: text.removeEnvironmentTitle(names.environment),
          verb: text.removeEnvironment,
          name: names.environment,
          path: `/api/environments/${id}`,
          environments: 1,
        };
  const buttons = [environment, project].filter((one) => one !== null);
  return (
    <SettingsBlock
      title={text.remove}
      about={text.removeText}
      request={{ method: 'DELETE', path: (environment ?? project).path }}
    >
      <div className="form-buttons">
        {buttons.map((one) => (
          <Button key={one.path} look="danger" isDisabled={!mayRemove} onPress={() => setDoomed(one)}>
            {one.verb}
          </Button>
        ))}
      </div>
      {!mayRemove && <p className="hint">{shared.needsAdministrator}</p>}
      {doomed && <RemovalDialog doomed={doomed} onClose={() => setDoomed(null)} />}
    </SettingsBlock>
  );
}

interface Doomed {
  title: string;
  verb: string;
  name: string;
  path: string;
  environments: number;
}

function RemovalDialog({ doomed, onClose }: { doomed: Doomed; onClose: () => void }) {
  const remove = useRecordRemoval();
  return (
    <ConfirmationDialog
      title={doomed.title}
      verb={doomed.verb}
      typed={{ label: text.typeName, text: doomed.name }}
      onClose={onClose}
      act={() => remove(doomed.path)}
    >
      {text.removeWhat(doomed.environments)}
    </ConfirmationDialog>
  );
}
