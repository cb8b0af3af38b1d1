import { EditorView } from '@codemirror/view';

/** The editor's colors, which follow the console's theme. */
export const editorTheme = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--panel)', height: '100%', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontVariantLigatures: 'none', lineHeight: '20px' },
  '.cm-content': { padding: '10px 0', caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-line': { padding: '0 12px 0 8px' },
  '.cm-placeholder': { color: 'var(--ink-2)' },
  '.cm-gutters': { color: 'var(--ink-3)', backgroundColor: 'var(--panel)', border: 'none' },
  '.cm-lineNumbers .cm-gutterElement': { minWidth: '32px', paddingRight: '8px' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    background: 'var(--accent-soft)',
  },
  '&.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--accent-soft)',
    outline: '1px solid var(--control-line)',
  },
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)' },
  '.cm-mark': {
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
    textDecorationSkipInk: 'none',
  },
  '.cm-mark-warning': { textDecoration: 'underline dotted var(--warn)' },
  '.cm-mark-info': { textDecoration: 'underline dotted var(--accent)' },
  '.cm-tooltip': {
    color: 'var(--ink)',
    backgroundColor: 'var(--panel)',
    border: '1px solid var(--control-line)',
    borderRadius: 'var(--radius)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { maxHeight: '240px', fontFamily: 'var(--mono)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': { padding: '3px 9px' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { color: 'var(--ink)', background: 'var(--accent-soft)' },
  '.cm-completionDetail': { color: 'var(--ink-2)', fontStyle: 'normal' },
  '.cm-completionMatchedText': { color: 'var(--accent)', textDecoration: 'none', fontWeight: '560' },
});
