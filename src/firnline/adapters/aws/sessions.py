"""AWS credentials, clients and signatures: the one place that knows how this environment reaches AWS.

Nothing here goes to the network, or imports botocore, before it must: opening a lakehouse costs none of it. The first
client of a process costs about 0.35 s (botocore, its models), each further service 0.005 to 0.025 s; after that one is
found in microseconds.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from typing import Any

import firnline
from firnline.adapters.access import StoreAccess
from firnline.config.aws import SERVICES, AwsSettings, address, is_of_aws
from firnline.core.errors import BadInput, Missing

CONNECTIONS_MAX = 32  # of one client: the listing's pool, and whoever reads beside it
ROLE_SESSION = "firnline"  # what CloudTrail shows behind the role's name
_ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"
_REGION_OF_NO_CLOUD = "us-east-1"  # a server that is not AWS wants some region signed and looks at none

Signer = Callable[[str, str, Mapping[str, str], bytes], dict[str, str]]


@dataclass(frozen=True, slots=True)
class _Credentials:
    """Stands where a botocore session looks for its credentials."""

    load: Callable[[], Any]

    def load_credentials(self) -> Any:
        return self.load()


class Sessions:
    """Everything AWS of one environment, for any number of threads."""

    def __init__(self, settings: AwsSettings) -> None:
        self.settings = settings
        self._clients: dict[tuple[str, int], Any] = {}
        self._endpoints: dict[str, str | None] = {}  # those that were asked for
        self._region: str | None = None
        self._opened: Any = None
        self._lock = threading.RLock()

    def client(self, service: str, *, tries: int | None = None) -> Any:
        """The botocore client of a service, made once.

        `tries=1` is for commits: a request that is sent again by itself cannot tell its own success from another's.
        """
        key = (service, tries or self.settings.tries)
        with self._lock:
            if key not in self._clients:
                with self.asking(f"{service}:*", service):
                    self._clients[key] = self._create(self._session(), *key)
            return self._clients[key]

    def access(self) -> StoreAccess:
        """S3 for an engine with its own client. Ask again before each use: credentials of roles and SSO end."""
        frozen = self._frozen()
        return StoreAccess(
            self.region(), frozen.access_key, frozen.secret_key, frozen.token,
            self.endpoint("s3"), self.settings.path_style,
        )  # fmt: skip

    def endpoint(self, service: str) -> str | None:
        """The server that is asked for a service: the settings', else the one every AWS tool on this machine takes
        (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, the profile's). None: AWS's own.
        """
        with self._lock:
            if service not in self._endpoints:
                self._endpoints[service] = self.settings.endpoints.get(service) or self._of_the_machine(service)
            return self._endpoints[service]

    @property
    def of_aws(self) -> bool:
        """Whether all these servers are AWS's, or the one that stands for all of AWS here (AWS_ENDPOINT_URL).

        Nothing that only AWS has is asked of others, and no other service is shown their keys.
        """
        whole = self._of_the_machine(None)
        return all(is_of_aws(each) or each == whole for service in SERVICES if (each := self.endpoint(service)))

    def may_ask(self, service: str) -> bool:
        """Whether a service may see these keys: beside servers of one's own only one that is named itself."""
        return self.of_aws or self.endpoint(service) not in {None, self._of_the_machine(None)}

    def region(self) -> str:
        """The region of the settings, else the one AWS tools would take: AWS_REGION, AWS_DEFAULT_REGION, the profile's.
        BadInput when there is none and a server of AWS is meant.
        """
        with self._lock, self.asking("", ""):
            found = self.settings.region or os.environ.get("AWS_REGION")
            found = found or self._session().get_config_variable("region")
        if not found and not self.of_aws:
            found = _REGION_OF_NO_CLOUD
        if found:
            self._region = str(found)
            return self._region
        raise BadInput(
            "No AWS region is set.",
            why="Every request is signed for a region.",
            next_step="Set `region:` of the catalog, AWS_REGION, or the region of the profile.",
        )

    def signer(self, service: str, region: str | None = None) -> Signer:
        """Signs single requests (SigV4). What it returns are all headers to send; path and query are signed as they
        are in the URL, byte for byte, and must be sent so.
        """

        def sign(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, str]:
            from botocore.auth import S3SigV4Auth, SigV4Auth
            from botocore.awsrequest import AWSRequest

            # S3 encodes a path once, every other service twice.
            kind = S3SigV4Auth if service == "s3" else SigV4Auth
            # A proxy may replace these: signed, they would break the signature.
            kept = {name: text for name, text in headers.items() if name.casefold() not in {"connection", "expect"}}
            request = AWSRequest(method=method, url=url, headers=kept, data=body)
            kind(self._frozen(), service, region or self.region()).add_auth(request)
            return dict(request.headers.items())

        return sign

    def asking(self, action: str, resource: str) -> AbstractContextManager[None]:
        """Errors of AWS inside become ours. `action` as IAM names it, such as `glue:GetTables`; `resource` as people
        do. Missing when botocore is not installed.
        """
        try:
            from firnline.adapters.aws.troubles import Asked, explained
        except ModuleNotFoundError as error:
            raise Missing(
                f"AWS is reached with {error.name}, which is not installed.",
                next_step="Install it: pip install 'firnline[aws]'",
            ) from error
        # When something went wrong, and not before: region and endpoints are worked out by what is asked inside.
        return explained(lambda: Asked(action, resource, self.settings, self._region, dict(self._endpoints)))

    def close(self) -> None:
        """Close every connection. A client asked for later is made anew."""
        with self._lock:
            clients, self._clients = list(self._clients.values()), {}
        for client in clients:
            client.close()

    def _frozen(self) -> Any:
        from botocore.exceptions import NoCredentialsError

        with self.asking("sts:AssumeRole" if self.settings.role else "", self.settings.role or ""):
            with self._lock:
                credentials = self._session().get_credentials()
            if credentials is None:
                raise NoCredentialsError
            return credentials.get_frozen_credentials()

    def _session(self) -> Any:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def _of_the_machine(self, service: str | None) -> str | None:
        """Which server every AWS tool here would ask for a service; of None, for one that nothing is said about. As
        https://docs.aws.amazon.com/sdkref/latest/guide/feature-ss-endpoints.html has it.
        """
        variables = [f"{_ENDPOINT_VARIABLE}_{service.upper()}"] if service else []
        with self.asking("", ""):
            session = self._session()
            if session.get_config_variable("ignore_configured_endpoint_urls"):
                return None
            profile, known = session.get_scoped_config(), session.full_config.get("services", {})
        named = known.get(profile.get("services"), {}).get(service, {})
        said = (os.environ.get(name) for name in (*variables, _ENDPOINT_VARIABLE))
        found = next(filter(None, (*said, named.get("endpoint_url"), profile.get("endpoint_url"))), None)
        return address(str(found), f"{_ENDPOINT_VARIABLE} (or endpoint_url of the profile)") if found else None

    def _open(self) -> Any:
        from botocore.session import Session

        session = _light(Session(profile=self.settings.profile))
        if keys := self.settings.keys:
            session.set_credentials(keys.access, keys.secret, keys.token)
        if self.settings.role is None:
            return session
        behind = _light(Session(profile=self.settings.profile))
        behind.register_component("credential_provider", _Credentials(lambda: self._assumed(session)))
        return behind

    def _assumed(self, session: Any) -> Any:
        """Credentials of the role, asked for at their first use and again before they end."""
        from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
        from botocore.exceptions import NoCredentialsError

        source = session.get_credentials()
        if source is None:
            raise NoCredentialsError
        more = {"RoleSessionName": ROLE_SESSION}
        if self.settings.external_id is not None:
            more["ExternalId"] = self.settings.external_id

        def create(service: str, **given: Any) -> Any:
            return self._create(session, service, self.settings.tries, **given)

        fetcher = AssumeRoleCredentialFetcher(create, source, self.settings.role, more)
        return DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")

    def _create(self, session: Any, service: str, tries: int, **given: Any) -> Any:
        from botocore.config import Config

        settings = self.settings
        endpoint = self.endpoint(service)
        # AWS verifies checksums of every upload; what only speaks like it may not know their headers.
        checksums = "when_supported" if endpoint is None or is_of_aws(endpoint) else "when_required"
        config = Config(
            connect_timeout=settings.connect_millis / 1000,
            read_timeout=settings.read_millis / 1000,
            retries={"mode": "standard", "total_max_attempts": tries},
            max_pool_connections=CONNECTIONS_MAX,
            user_agent_extra=f"firnline/{firnline.__version__}",
            s3={"addressing_style": "path" if settings.path_style else "auto"},
            request_checksum_calculation=checksums,
            response_checksum_validation=checksums,
        )
        return session.create_client(service, self.region(), endpoint_url=endpoint, config=config, **given)


def _light(session: Any) -> Any:
    """The session with the models of services that other sessions have read already."""
    session.register_component("data_loader", _models(session.get_config_variable("data_path")))
    return session


@cache
def _models(path: str | None) -> Any:
    """What reads botocore's models, and keeps them: to parse those of S3, Glue and DynamoDB takes 0.1 to 0.3 s. Threads
    may share it: at worst two parse the same file, and one result is kept.
    """
    from botocore.loaders import create_loader

    return create_loader(path)
