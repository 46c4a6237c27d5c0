import type { ISessionContext } from "@jupyterlab/apputils";

type Kernel = NonNullable<NonNullable<ISessionContext["session"]>["kernel"]>;

/** The part of a session context that matters here. */
export interface Session {
  readonly session: { readonly kernel: Pick<Kernel, "id" | "status" | "hasComm"> | null } | null;
}

/**
 * Whether JupyterLab holds the comm of a widget of this session's kernel.
 *
 * Then, and only then, ipywidgets' manager has the model, or is about to: it makes the comm.
 * Asking the kernel instead (comm_info_request) would wait behind every cell that runs, and
 * answer "yes" before there is a manager. Of several connections to one kernel only the first
 * holds its comms, hence `sessions`: all that are open.
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
