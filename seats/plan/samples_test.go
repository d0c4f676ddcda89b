package plan

// Plans drawn for the tests, as small as they can be and still have one of everything.

const smallPretix = `{
 "name": "Small hall",
 "size": {"width": 300, "height": 200},
 "categories": [{"name": "Front", "color": "#aa0000"}, {"name": "Back", "color": "#00aa00"}, {"name": "Nobody's", "color": "red"}],
 "zones": [
  {"name": "Hall", "position": {"x": 10, "y": 20},
   "rows": [
    {"row_number": "A", "position": {"x": 5, "y": 5}, "seats": [
     {"seat_guid": "a1", "uuid": "u1", "seat_number": "1", "category": "Front", "position": {"x": 0, "y": 0}},
     {"seat_guid": "a2", "uuid": "u2", "seat_number": "2", "category": "Front", "position": {"x": 25, "y": 0}}]},
    {"row_number": "B", "position": {"x": 5, "y": 30}, "seats": [
     {"seat_guid": "b1", "seat_number": 1, "category": "Back", "position": {"x": 0, "y": 0}},
     {"seat_guid": "b2", "seat_number": 2, "category": "Back", "position": {"x": 25, "y": 0}},
     {"seat_guid": "b3", "seat_number": 3, "category": "Back", "position": {"x": 90, "y": 0}}]}],
   "areas": [
    {"shape": "rectangle", "position": {"x": 0, "y": -60}, "rectangle": {"width": 100, "height": 40}, "rotation": 0, "text": {"text": "Stage", "position": {"x": 50, "y": 20}}},
    {"shape": "circle", "position": {"x": 0, "y": 90}, "circle": {"radius": 9}},
    {"shape": "ellipse", "position": {"x": 0, "y": 90}, "ellipse": {"radius": {"x": 9, "y": 4}}, "rotation": 30},
    {"shape": "polygon", "position": {"x": 0, "y": 90}, "polygon": {"points": [{"x": 0, "y": 0}, {"x": 9, "y": 0}, {"x": 0, "y": 9}]}},
    {"shape": "text", "position": {"x": 0, "y": 100}, "text": {"text": "Door", "position": {"x": 0, "y": 0}, "size": 12}}]}]
}`

const smallSeatsio = `{
 "name": "Small chart", "venueType": "MIXED", "version": 21,
 "categories": {"list": [{"key": 1, "label": "Near", "color": "#112233"}, {"key": "far", "label": "Far", "color": "#445566"}]},
 "zones": {"list": []},
 "subChart": {
  "height": 300, "width": 400, "focalPoint": {"x": 100, "y": 0},
  "sections": [{"label": "East", "categoryKey": "far", "points": [{"x": 200, "y": 50}, {"x": 300, "y": 50}, {"x": 300, "y": 150}, {"x": 200, "y": 150}], "topLeft": {"x": 199, "y": 49},
   "subChart": {"rows": [{"label": "A", "seats": [
     {"x": 10, "y": 10, "label": "1", "categoryKey": null, "accessible": true, "uuid": "e1"},
     {"x": 30, "y": 10, "label": "2", "categoryKey": 1, "companionSeat": true, "uuid": "e2"}]}],
    "generalAdmissionAreas": [{"label": "Pit", "capacity": 3, "type": "polygon", "points": [{"x": 0, "y": 30}, {"x": 60, "y": 30}, {"x": 60, "y": 60}], "uuid": "g9"}]}}],
  "rows": [{"label": "A", "seats": [{"x": 10, "y": 100, "label": "1", "categoryKey": 1, "restrictedView": true, "uuid": "r1"}, {"x": 30, "y": 100, "label": "2", "categoryKey": 1, "uuid": "r2"}]}],
  "tables": [{"label": "T1", "center": {"x": 60, "y": 200}, "radius": 10, "seats": [{"x": 60, "y": 180, "label": "1", "categoryKey": 1, "uuid": "t1"}, {"x": 60, "y": 220, "label": "2", "categoryKey": 1, "uuid": "t2"}]}],
  "booths": [{"label": "B1", "categoryKey": 1, "center": {"x": 200, "y": 200}, "width": 30, "height": 20, "rotationAngle": 45, "uuid": "b1"}],
  "generalAdmissionAreas": [{"label": "Lawn", "categoryKey": "far", "capacity": 20, "type": "circle", "center": {"x": 300, "y": 250}, "radius1": 40, "radius2": 30, "rotationAngle": 0, "uuid": "g1"}],
  "shapes": [{"label": "Stage", "smartType": "stage", "type": "rectangle", "center": {"x": 100, "y": 0}, "width": 80, "height": 20, "rotationAngle": 0}],
  "texts": [{"text": "Exit", "center": {"x": 0, "y": 280}, "rotationAngle": 0}],
  "icons": [{"type": "bar"}]}
}`

const smallFloors = `{
 "name": "Two floors",
 "categories": {"list": [{"key": 1, "label": "One price", "color": "#112233"}]},
 "subChartFloors": [
  {"floorName": "1", "floorDisplayName": "Ground", "height": 60, "sections": [], "rows": [{"label": "A", "seats": [{"x": 1, "y": 1, "label": "1", "categoryKey": 1}, {"x": 21, "y": 1, "label": "2", "categoryKey": 1}]}]},
  {"floorName": "2", "height": 60, "rows": [{"label": "A", "seats": [{"x": 1, "y": 1, "label": "1", "categoryKey": 1}, {"x": 21, "y": 1, "label": "2", "categoryKey": 1}]}]}]
}`

const smallOwn = `{
 "format": "usher-plan/1",
 "name": "Small house",
 "focus": [50, 0],
 "categories": [
  {"key": "A", "name": "Seat", "color": "#123456", "price": 2500},
  {"key": "B", "name": "Standing", "price": 1200}
 ],
 "sections": [
  {"name": "Rows", "category": "A",
   "generate": [{"rows": ["X"], "origin": [0, 0], "angle": 90, "blocks": [[-10, 10]]}],
   "rows": [{"row": "A", "seats": [
    {"id": "s1", "number": "1", "x": 10, "y": 50, "flags": ["accessible", "aisle-after"]},
    {"number": "2", "x": 50, "y": 50, "category": "B", "flags": ["companion"]}]}]},
  {"name": "Arcs", "category": "A",
   "generate": [{"rows": ["A", "B"], "center": [50, 0], "radius": 150, "angle": 90, "blocks": [[-20, -2], [2, 20]], "categories": ["A", "B"],
    "first": 101, "step": 2, "reverse": true, "marks": [{"rows": ["B"], "ends": 1, "numbers": ["105"], "flags": ["restricted-view"]}]}]},
  {"name": "Tables", "category": "A", "tables": [{"table": "T1", "center": [300, 60], "radius": 20, "count": 4}]},
  {"name": "Lawn", "category": "B", "outline": [[0, 300], [200, 300], [200, 400], [0, 400]], "area": {"capacity": 50}},
  {"name": "Bar", "category": "B", "area": {"capacity": 2, "places": [{"number": "1", "x": 300, "y": 300}, {"number": "2", "x": 310, "y": 300}]}}
 ],
 "shapes": [
  {"kind": "polygon", "role": "stage", "points": [[0, 0], [100, 0], [100, 20], [0, 20]]},
  {"kind": "ellipse", "role": "other", "center": [50, 30], "rx": 5, "ry": 3, "rotation": 20},
  {"kind": "line", "role": "wall", "points": [[0, 0], [0, 400]]},
  {"kind": "text", "role": "label", "center": [50, 10], "text": "Stage", "size": 14}
 ]
}`
