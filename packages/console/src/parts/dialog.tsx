// Modal dialogs, including one that shows a page's API request.

import { type ReactNode, useRef, useState } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components/Modal';
import type { ApiCall } from '../api/request.ts';
import { formatCurl } from '../api/request.ts';
import { words } from '../words.ts';
import { Button, CopyButton } from './button.tsx';
import { FocusFirst } from './focus-first.tsx';

/**
 * A modal dialog. The focus moves to its first field, cannot leave the dialog, and returns when the dialog closes.
 * @param onClose a function that closes the dialog; if undefined, the user cannot dismiss the dialog
 */
export function Dialog({ title, onClose, children }: { title: string; onClose?: () => void; children: ReactNode }) {
  const box = useRef<HTMLElement>(null);
  return (
    <ModalOverlay
      isOpen
      className="shade"
      isDismissable={onClose !== undefined}
      isKeyboardDismissDisabled={onClose === undefined}
      onOpenChange={(isOpen) => !isOpen && onClose?.()}
    >
      <Modal className="dialog-box">
        <AriaDialog className="dialog" ref={box}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
          <FocusFirst inside={box} />
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

export function AsApiCall({ request, onClose }: { request: ApiCall; onClose: () => void }) {
  const command = formatCurl(request);
  return (
    <Dialog title={words.asApiCall} onClose={onClose}>
      <p className="quiet">{request.method === undefined ? words.asApiCallText : words.asApiCallDoes}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre className="code code-wrap" tabIndex={0}>
        {command}
      </pre>
      <div className="form-buttons">
        <CopyButton text={command} look="main" />
        <Button onPress={onClose}>{words.close}</Button>
      </div>
    </Dialog>
  );
}

/**
 * A button that opens `AsApiCall`.
 * @param about a description of the request, if a page has several of these buttons
 */
export function AsApiCallButton({ request, look, about }: { request: ApiCall; look?: 'plain'; about?: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button
        look={look}
        {...(about !== undefined && { 'aria-label': `${words.asApiCall}: ${about}` })}
        onPress={() => setOpen(true)}
      >
        {words.asApiCall}
      </Button>
      {isOpen && <AsApiCall request={request} onClose={() => setOpen(false)} />}
    </>
  );
}
