import { useNavigate } from '@tanstack/react-router';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { text as accessText } from '../../access/words.ts';
import { useProject } from '../../frame/project.ts';
import { text as sharingText } from '../../sharing/words.ts';
import { words } from '../../words.ts';
import { text } from './words.ts';

const actions = {
  details: text.rename,
  insight: text.addInsight,
  text: text.addText,
  share: sharingText.open,
  subscribe: text.subscribe,
  call: words.asApiCall,
  access: accessText.open,
  full: text.full,
  copy: text.duplicate,
  remove: text.remove,
};
export type DashboardAction = Exclude<keyof typeof actions, 'subscribe'>;

/** A menu of the dashboard's less frequent actions. */
export function DashboardMenu({ id, onAction }: { id: string; onAction: (action: DashboardAction) => void }) {
  const { id: project } = useProject();
  const navigate = useNavigate();
  const act = (action: keyof typeof actions) => {
    if (action !== 'subscribe') return onAction(action);
    void navigate({
      to: `/projects/${project}/settings/subscriptions`,
      search: { open: 'new', dashboard: id } as never,
    });
  };
  return (
    <MenuTrigger>
      <AriaButton className="button" aria-label={text.more}>
        ⋯
      </AriaButton>
      <Popover placement="bottom end">
        <Menu className="menu" aria-label={text.more} onAction={(action) => act(action as keyof typeof actions)}>
          {Object.entries(actions).map(([action, name]) => (
            <MenuItem key={action} id={action} className="menu-item">
              {action === 'remove' ? <span className="bad">{name}</span> : name}
            </MenuItem>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
