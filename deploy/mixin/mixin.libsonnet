// The rules and dashboards as a monitoring mixin. Vendor the whole repository with jb, because the
// mixin imports the files that lie in alerts/ and grafana/.
{
  _config+:: {
    // Where the links of messages and dashboards lead.
    dashboardHost: 'https://grafana.example.org',
    runbookHost: 'https://runbooks.example.org',
    alertmanagerHost: 'https://alertmanager.example.org',
  },

  local hosts = {
    'https://grafana.example.org': $._config.dashboardHost,
    'https://runbooks.example.org': $._config.runbookHost,
    'https://alertmanager.example.org': $._config.alertmanagerHost,
  },
  local withHosts(text) = std.foldl(
    function(done, host) std.strReplace(done, host, hosts[host]), std.objectFields(hosts), text
  ),

  // Recorded and alerting rules are one group: they are evaluated in the order of the file, so an
  // alert sees what was recorded a moment before.
  prometheusAlerts+:: std.parseYaml(withHosts(importstr '../../alerts/calibration.rules.yml')),
  prometheusRules+:: { groups: [] },

  grafanaDashboards+:: {
    'calibration-fleet.json': std.parseJson(withHosts(importstr '../../grafana/dashboards/fleet.json')),
    'calibration-model.json': std.parseJson(withHosts(importstr '../../grafana/dashboards/model.json')),
  },
}
