import { hostLimits } from '../child/call-messages.ts';
import { encodeFrame, FrameReader } from '../child/frames.ts';
import type { ChildListener, LaunchChild, ToolChild } from './types.ts';

export interface TestChild extends ToolChild {
  readonly listener: ChildListener;
  /** Messages from the host. */
  readonly sent: { readonly message: Record<string, unknown>; readonly body: Uint8Array | undefined }[];
  kills: number;
  held: boolean;
  taken: boolean;
  backlog: number;
  /** Sends a message to the host. */
  say(message: unknown, body?: Uint8Array): void;
}

/** A scripted process of a tool. `ready`: reports ready as soon as it starts. */
export function testChildren({
  killsAtOnce = true,
  ready = true,
}: {
  readonly killsAtOnce?: boolean;
  readonly ready?: boolean;
} = {}): {
  readonly launch: LaunchChild;
  readonly children: TestChild[];
} {
  const children: TestChild[] = [];
  const launch: LaunchChild = (_tool, listener) => {
    const reader = new FrameReader(hostLimits);
    const child: TestChild = {
      listener,
      sent: [],
      kills: 0,
      held: true,
      taken: true,
      backlog: 0,
      killsAtOnce,
      send: (frame) => {
        for (const { json, body } of reader.read(frame)) child.sent.push({ message: JSON.parse(json), body });
      },
      backlogBytes: () => child.backlog,
      take: (taken) => {
        child.taken = taken;
      },
      hold: (held) => {
        child.held = held;
      },
      kill: () => {
        child.kills += 1;
      },
      say: (message, body) => listener.received(encodeFrame(JSON.stringify(message), body)),
    };
    children.push(child);
    if (ready) queueMicrotask(() => child.say({ type: 'ready' }));
    return child;
  };
  return { launch, children };
}
