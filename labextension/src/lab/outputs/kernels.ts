import type { ISessionContext } from "@jupyterlab/apputils";

type Kernel = NonNullable<NonNullable<ISessionContext["session"]>["kernel"]>;

/** The part of a session context that this module needs. */
export interface Session {
  readonly session: { readonly kernel: Pick<Kernel, "id" | "status" | "hasComm"> | null } | null;
}

/**
 * Whether JupyterLab holds the comm of a widget of this session's kernel.
 *
 * If so, and only then, ipywidgets' manager has the model, or soon will: it makes the comm. Asking
 * the kernel instead (comm_info_request) would wait behind every running cell. The kernel would
 * also answer "yes" before there is a manager. If a kernel has several connections, only the first
 * holds its comms, so `sessions` has all open sessions.
 */
export function knowsModel(own: Session, modelId: string, sessions: Iterable<Session>): boolean {
  const id = own.session?.kernel?.id;
  for (const { session } of sessions) {
    const kernel = session?.kernel;
    if (kernel && kernel.id === id && kernel.status !== "dead" && kernel.hasComm(modelId)) {
      return true;
    }
  }
  return false;
}
