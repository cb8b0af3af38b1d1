import { useState } from 'react';
import { RequestDialog } from '../../parts/request-dialog.tsx';
import { useRecordChange } from '../../records/change.ts';
import type { Tile } from './shapes.ts';
import { text } from './words.ts';

/** A dialog for editing the text of a tile. @param tile the tile to edit, or null to create one */
export function TextTileDialog({ path, tile, onClose }: { path: string; tile: Tile | null; onClose: () => void }) {
  const [body, setBody] = useState(tile?.text?.body ?? '');
  const change = { text: { body }, ...(tile === null ? { layouts: { sm: { w: 6, h: 2 } } } : { id: tile.id }) };
  return (
    <RequestDialog
      title={tile === null ? text.textTitle : text.editTextTitle}
      submit={tile === null ? text.add : text.save}
      request={{ method: 'PATCH', path, body: { tiles: [change] } }}
      change={useRecordChange(onClose)}
      isComplete={body.trim() !== ''}
      onClose={onClose}
    >
      <label className="field">
        <span className="field-label">{text.textLabel}</span>
        <textarea
          className="input"
          rows={6}
          maxLength={4000}
          value={body}
          // biome-ignore lint/a11y/noAutofocus: the dialog has just this field
          autoFocus
          onChange={({ target }) => setBody(target.value)}
        />
        <span className="hint">{text.textHint}</span>
      </label>
    </RequestDialog>
  );
}
