"""AIWG intake: a source becomes a raw copy under `.aiwg/wiki/raw/` by preview and confirm (1.6).

The copy is evidence and promotes nothing. Both files are AIWG's own, byte for byte; its receipt's
time is the time of the preview, since everything inside written bytes was shown before.
"""

from __future__ import annotations

import os
import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from core import config
from core.aiwg_identity import pretty
from core.evidence import raw
from core.evidence.aiwg_intake import RECEIPTS, Intake
from core.evidence.survey import Survey, survey
from core.identity import digest
from core.operations import envelope
from core.operations import preview as operations
from core.operations.envelope import HANDLERS, Copy, Plan, Quiet, Target, bound_source
from core.operations.preview import Exact
from core.ports import Desk
from core.screening import secret_spans
from core.workspace import Workspace
from schemas.common import Classification
from schemas.errors import MemdeskError, NotFound, Refused
from schemas.operations import BoundTarget, Effect, Envelope, OperationState
from schemas.storage import StoredOperation

ACTION = "intake"
CONSUMER = "raw"
_NAME_BYTES = 255
_LOOKED_AT = 20
"""How many earlier previews of one source are looked at for one that still holds."""
_PROTECTED = re.compile(
    r"(?:\.env|\.ssh|\.gnupg|\.aws|\.kube|\.git|\.memdesk|\.netrc|_netrc|\.npmrc|\.pypirc|\.pgpass"
    r"|\.git-credentials|\.htpasswd|\.vault-token|(?:credential|secret|token|password)s?"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?)(?:[.~].*)?"
    r"|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|env)",
    re.IGNORECASE,
)


def preview(desk: Desk, path: Path, *, text: bool = False) -> Exact:
    """The exact preview of taking in one file; stored by id, no target is touched.

    Bytes that stand already answer the operation that put them there; an open preview of equal
    inputs keeps its time and so its id.

    Raises Refused `path.outside-workspace`, `destination.link`, `path.not-regular`,
    `path.unreadable`, `intake.protected-name`, `intake.name`; NotFound `path.not-found`; Stale
    `intake.source-changing`.
    """
    desk = config.current(desk)
    locator = _locator(desk.workspace, path)
    source = _source(desk.workspace, locator)
    with desk.store.read() as view:
        earlier = view.operations.newest_of(locator, _LOOKED_AT)
    for found in earlier:
        mine = found.checkout == desk.workspace.checkout and found.envelope.action == ACTION
        if not mine or found.envelope.sources[0].digest != source.digest:
            continue
        if found.state is OperationState.PREPARED or _stands(desk, found):
            return operations.look(desk, found.operation_id, text=text)
        plan = _plan(desk, locator, source, found.envelope.request)
        open_ = found.state is not OperationState.APPLIED
        if open_ and envelope.operation_id(desk, plan.envelope) == found.operation_id:
            return operations.store(desk, plan, text=text)
    plan = _plan(desk, locator, source, {"as_of": str(desk.clock())})
    return operations.store(desk, plan, text=text)


def _stands(desk: Desk, found: StoredOperation) -> bool:
    """True while all that an applied operation wrote is there."""
    return found.state is OperationState.APPLIED and all(
        _there(desk.workspace, t.path) == t.after_digest for t in found.envelope.targets
    )


class TakeIn(Quiet):
    """`intake` for raw copies and AIWG's receipts of them."""

    def lock(self, desk: Desk) -> AbstractContextManager[None]:
        """AIWG takes no lock here; neither name is ever written over."""
        return nullcontext()

    def plan(self, desk: Desk, subject: str, request: dict[str, str]) -> Plan:
        """The copy and the receipt. Raises as `preview` does."""
        locator = _allowed(subject)
        return _plan(desk, locator, _source(desk.workspace, locator), request)

    def before_write(self, desk: Desk, plan: Plan) -> None:
        """Both folders, closed to others as AIWG makes them."""
        for folder in (raw.ROOT, RECEIPTS):
            desk.workspace.make_private(folder)


HANDLERS[ACTION, CONSUMER] = TakeIn()


def _plan(desk: Desk, locator: str, source: Survey, request: dict[str, str]) -> Plan:
    taken = Intake(locator, source.digest, source.size)
    copy, receipt, blocked = _files(desk.workspace, taken, int(request["as_of"]))
    if source.secrets:
        blocked.insert(0, "intake.secret")
    duplicate = copy.before_digest == copy.after_digest
    level = Classification.SECRET if source.secrets else Classification.INTERNAL
    before = None if receipt.before is None else digest(receipt.before)
    bound = (
        BoundTarget(path=copy.path, before_digest=copy.before_digest, after_digest=source.digest),
        BoundTarget(path=receipt.path, before_digest=before, after_digest=digest(receipt.after)),
    )
    document = Envelope(
        action=ACTION,
        workspace=desk.workspace.id,
        checkout=desk.workspace.checkout,
        subject=locator,
        subject_digest=digest(locator.encode()),
        consumer=CONSUMER,
        request=request,
        targets=bound,
        sources=(bound_source(locator, source.digest, level),),
        policy_digest=desk.policy.digest,
        duplicate=duplicate,
        blocked_by=tuple(blocked),
    )
    return Plan(
        envelope=document,
        targets=(receipt,),
        classification=level,
        affects=_affects(taken, copy, receipt),
        checks=_checks(source),
        copies=(copy,),
    )


def _files(workspace: Workspace, taken: Intake, time: int) -> tuple[Copy, Target, list[str]]:
    """The copy, the receipt, and what stands in their way. A receipt that stands stays."""
    blocked = []
    if len(taken.raw_path.rpartition("/")[2]) > _NAME_BYTES:
        raise Refused("intake.name", f"{taken.raw_path} would be too long a name.")
    there = _there(workspace, taken.raw_path)
    if there not in (None, taken.digest):
        blocked.append("intake.raw-conflict")
    copy = Copy(taken.raw_path, taken.locator, there, taken.digest, taken.size)
    before = workspace.read(taken.receipt_path)
    if before is None:
        after = pretty(taken.receipt(duplicate=there == taken.digest, time=time))
    else:
        after = before
        if not taken.is_receipt(before):
            blocked.append("intake.receipt-conflict")
    return copy, Target(taken.receipt_path, before, after, derived=True), blocked


def _there(workspace: Workspace, path: str) -> str | None:
    """Digest of what stands at a target. Raises Refused `destination.link`, `path.not-regular`."""
    try:
        return survey(workspace, path, screened=False).digest
    except NotFound:
        return None


def _affects(taken: Intake, copy: Copy, receipt: Target) -> tuple[Effect, ...]:
    def effect(code: str, text: str) -> Effect:
        return Effect(code=code, text=text)

    if copy.before_digest is None:
        first = effect("new-file", f"new file  {taken.size:,} bytes")
    else:
        first = effect("same-bytes", f"the same {taken.size:,} bytes stand there already")
    out = [first]
    if receipt.before is not None:
        out.append(effect("same-receipt", "the first receipt stays as it is"))
    out.append(effect("evidence-only", f"evidence only ({taken.kind}): nothing is promoted"))
    out.append(effect("next", f"read it afterwards with  evidence import {copy.path}"))
    return tuple(out)


def _checks(source: Survey) -> tuple[Effect, ...]:
    """What was looked for; a finding names its line, never its words."""
    out = [Effect(code="source", text="regular file, no link on the way to it")]
    if source.secrets:
        lines = ", ".join(f"{n:,}" for n in source.secrets[:5])
        more = "" if len(source.secrets) <= 5 else f" and {len(source.secrets) - 5:,} more"
        out.append(Effect(code="intake.secret", text=f"credential on line {lines}{more}"))
    else:
        out.append(Effect(code="hazard", text="no credential found in name or text"))
    return tuple(out)


def _source(workspace: Workspace, locator: str) -> Survey:
    try:
        return survey(workspace, locator)
    except MemdeskError as err:
        if err.code == "destination.link":
            raise Refused("path.outside-workspace", err.message, path=locator) from err
        raise


def _locator(workspace: Workspace, path: Path) -> str:
    """A path as the operator gave it, relative to the root; links are refused when it is opened."""
    absolute = Path(os.path.abspath(path))
    for folder in reversed(absolute.parents):
        try:
            inside = os.path.samefile(folder, workspace.root)
        except OSError:
            continue
        if inside:
            return _allowed(absolute.relative_to(folder).as_posix())
    raise Refused("path.outside-workspace", f"{path} is not inside the workspace.")


def _allowed(locator: str) -> str:
    """The locator, if its names may be written down. Raises Refused `intake.*`."""
    try:
        locator.encode()
    except UnicodeEncodeError as err:
        raise Refused("intake.name", "The path is not valid UTF-8.") from err
    for part in locator.split("/"):
        if _PROTECTED.fullmatch(part):
            raise Refused("intake.protected-name", f"{part} names credentials.", path=locator)
    if secret_spans(locator):
        raise Refused("intake.protected-name", "The path itself holds a credential.")
    return locator
